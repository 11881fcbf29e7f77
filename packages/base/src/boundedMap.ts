// A map of bounded size. It drops its oldest entry when it is full. Setting a key makes its entry the newest.

export class BoundedMap<K, V> extends Map<K, V> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    if (this.size >= this.#most) this.delete(this.keys().next().value!);
    return super.set(key, value);
  }
}
