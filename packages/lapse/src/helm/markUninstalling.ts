// Marks the record of a revision as `uninstalling` after an uninstall that left objects behind, as Helm does before it
// deletes anything. `helm list --uninstalling` then shows the release, and `helm uninstall` finishes it. Only `info`
// changes; all other bytes stay as Helm wrote them.

import { encodeBase64, fromUtf8, gzip, utf8 } from '@lapse/base/codec';
import { formatTime, type Instant } from '@lapse/base/instant';
import { nextTurn } from '@lapse/base/turn';
import { isObject, type JsonObject } from '@lapse/kube/api/json';
import { unpackPayload } from './release.ts';
import { skimFields } from './skimJson.ts';
import { inTurn, type Stored } from './storage.ts';

export const UNINSTALLING = 'uninstalling';
/** The description that Helm writes. */
const DESCRIPTION = 'Deletion in progress (or silently failed)';
/** Maximum size of `info` in bytes: deployment time, notes and status. */
const MOST_INFO = 2 ** 20;
/** Bytes that are compressed in one step; takes about ten milliseconds. */
const CHUNK = 256 * 1024;
const LEVEL = 6;

/** A merge patch for the Secret or ConfigMap of the revision; undefined if its payload cannot be read. */
export async function buildUninstalling(stored: Stored, now: Instant): Promise<JsonObject | undefined> {
  const payload = await inTurn(() => rewrite(stored.payload, now));
  if (payload === undefined) return undefined;
  return {
    metadata: { labels: { status: UNINSTALLING, modifiedAt: String(Math.floor(now / 1000)) } },
    // The values of a Secret have a second base64 encoding.
    data: { release: stored.driver === 'secret' ? encodeBase64(utf8(payload)) : payload },
  };
}

async function rewrite(payload: string, now: Instant): Promise<string | undefined> {
  const unpacked = unpackPayload(payload);
  if (unpacked.kind === 'corrupt') return undefined;
  const { bytes, isPacked } = unpacked;
  const before = skimFields(bytes)?.get('info');
  const info = before === undefined ? undefined : parseInfo(before);
  if (before === undefined || info === undefined) return undefined;
  const start = before.byteOffset - bytes.byteOffset;
  const after = { ...info, status: UNINSTALLING, deleted: formatTime(now), description: DESCRIPTION };
  const parts = [
    bytes.subarray(0, start),
    utf8(JSON.stringify(after)),
    bytes.subarray(start + before.length),
  ];
  const json = Buffer.concat(parts);
  return encodeBase64(isPacked ? await pack(json) : json);
}

function parseInfo(bytes: Uint8Array): JsonObject | undefined {
  if (bytes.length > MOST_INFO) return undefined;
  try {
    const info: unknown = JSON.parse(fromUtf8(bytes));
    return isObject(info) ? info : undefined;
  } catch {
    return undefined;
  }
}

/** Writes several gzip members, which readers treat as one stream. Yields to other work between the members. */
async function pack(bytes: Uint8Array): Promise<Uint8Array> {
  const members: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK) {
    members.push(gzip(bytes.subarray(at, at + CHUNK), LEVEL));
    await nextTurn();
  }
  return Buffer.concat(members);
}
