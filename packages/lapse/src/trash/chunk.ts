// Records to chunks and back, with the codec of checkpoints: gzip of a JSON array with its checksum.

import { formatTime, type Instant, parseTime } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { decodeChunk } from '#checkpoint/decode';
import { ChunkEncoder, type EncodedChunk } from '#checkpoint/encode';
import { isRecord, type TrashRecord } from './record.ts';

/** A stored group of records. */
export interface TrashChunk {
  /** Starts with the time, so that names sort by age. */
  readonly name: string;
  readonly savedAt: Instant;
  readonly objects: number;
  /** Size of the gzip bytes. */
  readonly bytes: number;
  /** SHA-256 of the gzip bytes, in hexadecimal. */
  readonly checksum: string;
  /** Base64 of gzip of the JSON array of records. */
  readonly data: string;
}

export interface EncodedRecords {
  readonly chunks: readonly TrashChunk[];
  /** Records that do not fit into a chunk: the id, and why. */
  readonly tooLarge: ReadonlyMap<string, string>;
}

const PREFIX = 'lapse-trash';
const CHECKSUM_DIGITS = 10;

/** The name is unique: chunks of the same instant with the same content are the same chunk. */
const nameOf = (savedAt: Instant, { checksum }: EncodedChunk): string =>
  `${PREFIX}-${savedAt.toString(36)}-${checksum.slice(0, CHECKSUM_DIGITS)}`;

/** Usually one chunk; more if the records exceed the size of a Secret. */
export function encodeRecords(records: readonly TrashRecord[], now: Instant): EncodedRecords {
  const tooLarge = new Map<string, string>();
  for (;;) {
    const encoded = encodeAll(records.filter(({ metadata: { name } }) => !tooLarge.has(name)));
    if (encoded.kind === 'chunks')
      return { chunks: encoded.chunks.map((chunk) => chunkOf(chunk, now)), tooLarge };
    tooLarge.set(encoded.id, encoded.why);
  }
}

type Encoded =
  | { readonly kind: 'chunks'; readonly chunks: readonly EncodedChunk[] }
  | { readonly kind: 'tooLarge'; readonly id: string; readonly why: string };

function encodeAll(records: readonly TrashRecord[]): Encoded {
  if (records.length === 0) return { kind: 'chunks', chunks: [] };
  const encoder = new ChunkEncoder();
  const chunks: EncodedChunk[] = [];
  const steps = [...records.map((record) => () => encoder.add(record)), () => encoder.end()];
  for (const step of steps) {
    const encoded = step();
    // The encoder names the record, whose name is its id: `lapse.dev/v1alpha1 TrashRecord 0123456789ab`.
    if (encoded.kind === 'tooLarge')
      return { kind: 'tooLarge', id: encoded.object.split(' ').at(-1) ?? '', why: encoded.why };
    chunks.push(...encoded.chunks);
  }
  return { kind: 'chunks', chunks };
}

const chunkOf = (encoded: EncodedChunk, savedAt: Instant): TrashChunk => ({
  name: nameOf(savedAt, encoded),
  savedAt,
  objects: encoded.objectsCount,
  bytes: encoded.sizeBytes,
  checksum: encoded.checksum,
  data: encoded.data,
});

export type DecodedRecords =
  | { readonly kind: 'records'; readonly records: readonly TrashRecord[] }
  /** The problem as a clause: `its checksum is …`. */
  | { readonly kind: 'damaged'; readonly why: string };

/** Verifies the checksum and the number of records. */
export function decodeRecords({
  name,
  objects,
  checksum,
  data,
}: Pick<TrashChunk, 'name' | 'objects' | 'checksum' | 'data'>): DecodedRecords {
  const expected = { checkpointName: name, index: 0, checksum, objectsCount: objects };
  const chunk = {
    apiVersion: '',
    kind: '',
    metadata: { name },
    spec: { checkpointName: name, index: 0, checksum, objectsCount: objects, data },
  };
  const decoded = decodeChunk(chunk, expected);
  if (decoded.kind === 'damaged') return decoded;
  const odd = decoded.objects.findIndex((item: KubeObject) => !isRecord(item));
  if (odd !== -1) return { kind: 'damaged', why: `its item ${odd} is not a saved object` };
  return { kind: 'records', records: decoded.objects as readonly TrashRecord[] };
}

/** The time in text form, as stores write it. */
export const savedAtText = ({ savedAt }: Pick<TrashChunk, 'savedAt'>): string => formatTime(savedAt);
export const readSavedAt = (text: string | undefined): Instant => parseTime(text ?? '');
