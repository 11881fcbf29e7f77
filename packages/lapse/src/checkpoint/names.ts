// Names of checkpoints and chunks, derived from the uid of the request. A retry finds the objects of an earlier attempt;
// a request that was recreated under the same name does not.

import { sha256 } from '@lapse/base/codec';

const DIGITS = 16;

export const checkpointName = (requestUid: string): string => `mcp-${sha256(requestUid).slice(0, DIGITS)}`;

/** `index` starts at 0. */
export const chunkName = (checkpoint: string, index: number): string => `${checkpoint}-${index}`;
