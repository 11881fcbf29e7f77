// Names of checkpoints and their chunks, made from the uid of the request: a repeated attempt finds what an earlier one
// wrote, and a request that was recreated under its old name never does.

import { sha256 } from '@lapse/base/codec';

const DIGITS = 16;

export const checkpointName = (requestUid: string): string => `mcp-${sha256(requestUid).slice(0, DIGITS)}`;

/** `index` from 0. */
export const chunkName = (checkpoint: string, index: number): string => `${checkpoint}-${index}`;
