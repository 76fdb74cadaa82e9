// A lesson points at parts of the views by their marks: <section data-mark="words.table">.
// Lights the marked parts inside `root` until the returned function is called. Parts that appear
// later are lit as they come.
export function light(root: HTMLElement, marks: string[]): () => void {
  const update = () => {
    for (const element of root.querySelectorAll<HTMLElement>('[data-mark]')) {
      element.toggleAttribute('data-lit', marks.includes(element.dataset.mark!));
    }
  };
  const observer = new MutationObserver(update);
  observer.observe(root, { childList: true, subtree: true });
  update();
  return () => {
    observer.disconnect();
    for (const element of root.querySelectorAll('[data-lit]')) element.removeAttribute('data-lit');
  };
}
