// Movement that helps the eye follow, and none for people who asked for less of it.

export function prefersStill(): boolean {
  return window.matchMedia('(prefers-reduced-motion: reduce)').matches;
}

// Calls `show` with 0 to 1 over some time, slowing down at the end; at once for those who like it
// still. Returns how to stop.
export function glide(milliseconds: number, show: (share: number) => void): () => void {
  if (prefersStill() || milliseconds === 0) {
    show(1);
    return () => {};
  }
  const start = performance.now();
  let frame = requestAnimationFrame(function draw(now) {
    const share = Math.min(Math.max((now - start) / milliseconds, 0), 1);
    show(1 - (1 - share) ** 3);
    if (share < 1) frame = requestAnimationFrame(draw);
  });
  return () => cancelAnimationFrame(frame);
}
