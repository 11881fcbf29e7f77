// Reader for the protobuf wire format. The bytes may be hostile: every length is checked before use. Errors have the
// messages of the Go code that Kubernetes generates.

import { decodeUtf8 } from '@lapse/kube/api/jsonText';
import { DecodeError } from './decodeError.ts';

export const VARINT = 0;
const FIXED64 = 1;
export const BYTES = 2;
const GROUP = 3;
const END_GROUP = 4;
const FIXED32 = 5;

const unexpectedEnd = (): DecodeError => new DecodeError('unexpected EOF');

export class ProtobufReader {
  readonly #bytes: Uint8Array;
  #at: number;
  readonly #end: number;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  get done(): boolean {
    return this.#at >= this.#end;
  }

  /** Field number and wire type; `message` is the message name for errors. */
  tag(message: string): { field: number; wire: number } {
    const start = this.#at;
    const tag = this.#varint();
    const wire = Number(tag & 7n);
    const field = Number(BigInt.asIntN(32, tag >> 3n));
    if (wire === END_GROUP) throw new DecodeError(`proto: ${message}: wiretype end group for non-group`);
    if (field <= 0) throw new DecodeError(`proto: ${message}: illegal tag ${field} (wire type ${tag})`);
    this.#tagStart = start;
    return { field, wire };
  }
  #tagStart = 0;

  #varint(): bigint {
    const bytes = this.#bytes;
    // Nearly all varints have one to four bytes, which need no bigint arithmetic.
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (this.#at >= this.#end) throw unexpectedEnd();
      const byte = bytes[this.#at++]!;
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt(low);
    }
    let value = BigInt(low);
    for (let shift = 28n; shift < 64n; shift += 7n) {
      if (this.#at >= this.#end) throw unexpectedEnd();
      const byte = bytes[this.#at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new DecodeError('proto: integer overflow');
  }

  int32(): number {
    return Number(BigInt.asIntN(32, this.#varint()));
  }

  uint32(): number {
    return Number(BigInt.asUintN(32, this.#varint()));
  }

  /** Exact: bigint above 2^53. */
  int64(): number | bigint {
    return exact(BigInt.asIntN(64, this.#varint()));
  }

  uint64(): number | bigint {
    return exact(this.#varint());
  }

  bool(): boolean {
    return this.#varint() !== 0n;
  }

  float64(): number {
    const at = this.#take(8);
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + at, 8).getFloat64(0, true);
  }

  /** The bytes of a length-delimited field, not copied. */
  bytes(): Uint8Array {
    const length = this.#length();
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  string(): string {
    return decodeUtf8(this.bytes());
  }

  /** A reader of the message in a length-delimited field. */
  message(): ProtobufReader {
    const length = this.#length();
    const at = this.#take(length);
    return new ProtobufReader(this.#bytes, at, at + length);
  }

  #length(): number {
    const length = BigInt.asIntN(64, this.#varint());
    if (length < 0n) throw new DecodeError('proto: negative length found during unmarshaling');
    return Number(length);
  }

  #take(length: number): number {
    const at = this.#at;
    if (length > this.#end - at) throw unexpectedEnd();
    this.#at = at + length;
    return at;
  }

  /** Skips the field whose tag was just read, with all its contents. */
  skip(): void {
    this.#at = this.#tagStart;
    let depth = 0;
    do {
      if (this.done) throw unexpectedEnd();
      depth += this.#skipOne(depth);
    } while (depth > 0);
  }

  /** Skips one tag and its value; returns the change of the group depth. */
  #skipOne(depth: number): number {
    const wire = Number(this.#varint() & 7n);
    switch (wire) {
      case VARINT:
        this.#varint();
        return 0;
      case FIXED64:
        this.#take(8);
        return 0;
      case BYTES:
        this.#take(this.#length());
        return 0;
      case GROUP:
        return 1;
      case END_GROUP:
        if (depth === 0) throw new DecodeError('proto: unexpected end of group');
        return -1;
      case FIXED32:
        this.#take(4);
        return 0;
      default:
        throw new DecodeError(`proto: illegal wireType ${wire}`);
    }
  }
}

function exact(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
