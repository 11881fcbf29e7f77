// The set of uids of a whole cluster: sixteen to thirty-two bytes each instead of a string. In a cluster of ten
// million objects the probability of a collision is half a percent.

const FIRST = 1024;
/** Minimum number of slots per entry. */
const ROOM = 2;

/** A set of strings that stores 53 bits of each. */
export class UidSet {
  /** 0 is a free slot. */
  #places = new Float64Array(FIRST);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(uid: string, home: string): boolean {
    return this.#places[this.#placeOf(markOf(uid, home))] !== 0;
  }

  /** Returns whether it is new. */
  add(uid: string, home: string): boolean {
    const mark = markOf(uid, home);
    const place = this.#placeOf(mark);
    if (this.#places[place] !== 0) return false;
    this.#places[place] = mark;
    this.#size++;
    if (this.#size * ROOM > this.#places.length) this.#grow();
    return true;
  }

  /** Its current slot, or the slot to insert it. */
  #placeOf(mark: number): number {
    const last = this.#places.length - 1;
    let place = mark % (last + 1);
    while (this.#places[place] !== 0 && this.#places[place] !== mark) place = (place + 1) & last;
    return place;
  }

  #grow(): void {
    const before = this.#places;
    this.#places = new Float64Array(before.length * 2);
    for (const mark of before) if (mark !== 0) this.#places[this.#placeOf(mark)] = mark;
  }
}

const HIGH = 2 ** 32;

/** Two combined hashes (FNV-1a, and one with another multiplier). Never 0. */
function markOf(uid: string, home: string): number {
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  for (let i = 0; i < uid.length; i++) {
    const code = uid.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x85ebca6b);
    b ^= b >>> 15;
  }
  for (let i = 0; i < home.length; i++) {
    const code = home.charCodeAt(i) + 0x100;
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x85ebca6b);
    b ^= b >>> 13;
  }
  return ((b >>> 0) & 0x1fffff) * HIGH + (a >>> 0) + 1;
}
