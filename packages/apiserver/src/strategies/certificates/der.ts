// Reads ASN.1 values in DER.

export interface DerValue {
  readonly tag: number;
  readonly content: Uint8Array;
  /** Tag, length and content. */
  readonly raw: Uint8Array;
}

const SEQUENCE = 0x30;
const SET = 0x31;
/** UTF8String, PrintableString, IA5String. */
const TEXTS = [0x0c, 0x13, 0x16];

export const isPrintable = ({ tag }: DerValue): boolean => TEXTS.includes(tag);

/** The first value; throws when the bytes end before it. */
export function readDer(bytes: Uint8Array): DerValue {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined) throw new Error('truncated value');
  const extra = first < 0x80 ? 0 : first & 0x7f;
  if (extra > 4) throw new Error('length too large');
  let length = extra === 0 ? first : 0;
  for (const octet of bytes.subarray(2, 2 + extra)) length = length * 256 + octet;
  const end = 2 + extra + length;
  if (end > bytes.length) throw new Error('truncated value');
  return { tag, content: bytes.subarray(2 + extra, end), raw: bytes.subarray(0, end) };
}

/** The values in a SEQUENCE or SET. */
export function readSequence({ tag, content }: DerValue): DerValue[] {
  if (tag !== SEQUENCE && tag !== SET) throw new Error(`unexpected tag ${tag}`);
  const values: DerValue[] = [];
  for (let rest = content; rest.length > 0; ) {
    const value = readDer(rest);
    values.push(value);
    rest = rest.subarray(value.raw.length);
  }
  return values;
}
