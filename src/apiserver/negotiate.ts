// Which representation an answer takes: the best entry of Accept that the server can serve.

import { notAcceptable } from '#api/errors';

export type Representation =
  | { readonly as: 'object' }
  | { readonly as: 'Table'; readonly version: string }
  | { readonly as: 'PartialObjectMetadata'; readonly version: string };

export interface Negotiated {
  readonly encoding: 'json' | 'yaml';
  readonly representation: Representation;
}

interface MediaRange {
  readonly type: string;
  readonly quality: number;
  readonly params: ReadonlyMap<string, string>;
}

/** Parses an Accept header, best first; entries of equal quality keep their order. */
export function parseAccept(header: string): MediaRange[] {
  const ranges = header
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(parseRange);
  return ranges.sort((a, b) => b.quality - a.quality);
}

function parseRange(entry: string): MediaRange {
  const [type, ...rest] = entry.split(';').map((part) => part.trim());
  const params = new Map<string, string>();
  for (const part of rest) {
    const eq = part.indexOf('=');
    if (eq > 0) params.set(part.slice(0, eq).trim().toLowerCase(), part.slice(eq + 1).trim());
  }
  const quality = Number(params.get('q') ?? '1');
  return { type: type!.toLowerCase(), quality: Number.isFinite(quality) ? quality : 0, params };
}

const OBJECT: Representation = { as: 'object' };

/** How this range would be served, or undefined when it cannot be. */
function serve(range: MediaRange, transforms: boolean): Negotiated | undefined {
  const encoding = encodingOf(range.type);
  if (!encoding || range.quality === 0) return undefined;
  const as = range.params.get('as');
  if (as === undefined) return { encoding, representation: OBJECT };
  const version = range.params.get('v') ?? '';
  if (!transforms || range.params.get('g') !== 'meta.k8s.io' || !/^v1(beta1)?$/.test(version))
    return undefined;
  if (as === 'Table') return { encoding, representation: { as: 'Table', version } };
  if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') {
    return { encoding, representation: { as: 'PartialObjectMetadata', version } };
  }
  return undefined;
}

function encodingOf(type: string): 'json' | 'yaml' | undefined {
  if (type === 'application/json' || type === '*/*' || type === 'application/*') return 'json';
  return type === 'application/yaml' ? 'yaml' : undefined;
}

const ACCEPTED = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
];
// Custom resources have no protobuf form.
const ACCEPTED_CUSTOM = ACCEPTED.filter((t) => !t.includes('protobuf'));

/** Answers of this server are never protobuf; a client that accepts nothing else gets 406. */
export function negotiate(
  accept: string | undefined,
  options: { custom: boolean; transforms?: boolean },
): Negotiated {
  if (accept === undefined || accept.trim() === '') return { encoding: 'json', representation: OBJECT };
  for (const range of parseAccept(accept)) {
    const served = serve(range, options.transforms ?? true);
    if (served) return served;
  }
  throw notAcceptable(options.custom ? ACCEPTED_CUSTOM : ACCEPTED);
}
