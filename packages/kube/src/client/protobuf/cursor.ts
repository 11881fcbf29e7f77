// Reads the protobuf wire format from untrusted bytes: every length is checked before it is used.

export const VARINT = 0;
const FIXED64 = 1;
export const BYTES = 2;
const FIXED32 = 5;

/** The bytes are not a valid message. */
export class ProtobufError extends Error {
  constructor(problem: string) {
    super(`protobuf: ${problem}`);
    this.name = 'ProtobufError';
  }
}

const cutShort = (): ProtobufError => new ProtobufError('unexpected end of message');

export class Cursor {
  readonly bytes: Buffer;
  at: number;
  /** The end of the current message. Reading stops here. */
  end: number;

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.bytes = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = at;
    this.end = end;
  }

  /** A signed integer of up to 64 bits, exact up to 2^53. */
  varint(): number {
    const { bytes, end } = this;
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (this.at >= end) throw cutShort();
      const byte = bytes[this.at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return this.#longVarint(value);
  }

  /** The rest of an integer of more than four bytes. Rarely needed. */
  #longVarint(low: number): number {
    let value = BigInt(low);
    for (let shift = 28n; shift < 70n; shift += 7n) {
      if (this.at >= this.end) throw cutShort();
      const byte = this.bytes[this.at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(BigInt.asIntN(64, value));
    }
    throw new ProtobufError('integer exceeds 64 bits');
  }

  /** Enters a length-delimited field and returns where it ends. */
  enter(): number {
    const length = this.varint();
    if (length < 0 || length > this.end - this.at) throw cutShort();
    return this.at + length;
  }

  text(): string {
    const end = this.enter();
    const value = this.bytes.toString('utf8', this.at, end);
    this.at = end;
    return value;
  }

  /** Skips the value of a field of this wire type. */
  skip(wire: number): void {
    if (wire === BYTES) this.at = this.enter();
    else if (wire === VARINT) this.varint();
    else if (wire === FIXED64) this.#pass(8);
    else if (wire === FIXED32) this.#pass(4);
    else throw new ProtobufError(`unknown wire type ${wire}`);
  }

  #pass(length: number): void {
    if (length > this.end - this.at) throw cutShort();
    this.at += length;
  }
}
