// Something that the server is asked for whenever the question changes: what came, or why not.

export class Loaded<T> {
  value = $state.raw<T | null>(null);
  failure = $state('');
  isBusy = $state(false);
  #latest = 0;

  // `call` reads the question; null: there is nothing to ask. For use inside $effect: answers that
  // were overtaken are dropped, and the last value stays until the next one is there.
  ask(call: Promise<T> | null) {
    const mine = ++this.#latest;
    this.isBusy = call !== null;
    if (call === null) {
      this.value = null;
      this.failure = '';
      return;
    }
    call.then(
      (value) => mine === this.#latest && this.#show(value, ''),
      (error: Error) => mine === this.#latest && this.#show(null, error.message),
    );
  }

  #show(value: T | null, failure: string) {
    this.value = value;
    this.failure = failure;
    this.isBusy = false;
  }
}
