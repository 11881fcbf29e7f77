// A set of bounded size. It drops its oldest member when it is full.

export class BoundedSet {
  readonly #members = new Set<string>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  has(member: string): boolean {
    return this.#members.has(member);
  }

  add(member: string): void {
    if (this.#members.size >= this.#most) {
      const [oldest] = this.#members;
      if (oldest !== undefined) this.#members.delete(oldest);
    }
    this.#members.add(member);
  }

  delete(member: string): boolean {
    return this.#members.delete(member);
  }

  get size(): number {
    return this.#members.size;
  }
}
