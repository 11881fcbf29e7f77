// A FIFO queue of 32-bit numbers: one typed array that wraps around and doubles when it is full.

export class Ring {
  #items: Int32Array;
  #head = 0;
  #size = 0;

  /** `capacity` must be a power of two. */
  constructor(capacity = 64) {
    this.#items = new Int32Array(capacity);
  }

  get size(): number {
    return this.#size;
  }

  push(item: number): void {
    if (this.#size === this.#items.length) this.#grow();
    this.#items[(this.#head + this.#size) & (this.#items.length - 1)] = item;
    this.#size++;
  }

  shift(): number | undefined {
    if (this.#size === 0) return undefined;
    const item = this.#items[this.#head]!;
    this.#head = (this.#head + 1) & (this.#items.length - 1);
    this.#size--;
    return item;
  }

  #grow(): void {
    const next = new Int32Array(this.#items.length * 2);
    const tail = this.#items.subarray(this.#head);
    next.set(tail);
    next.set(this.#items.subarray(0, this.#head), tail.length);
    this.#items = next;
    this.#head = 0;
  }
}
