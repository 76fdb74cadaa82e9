// What the pointer is on, shared by the pictures of a head; -1: nothing.

export class Hover {
  query = $state(-1);
  key = $state(-1);

  at(query: number, key: number) {
    this.query = query;
    this.key = key;
  }
  leave() {
    this.at(-1, -1);
  }
}
