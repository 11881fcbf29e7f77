// Content negotiation: selects the best entry of the Accept header that the server can serve.

import { notAcceptable } from '@lapse/kube/api/errors';
import { ApiError } from '@lapse/kube/api/status';

export type Representation =
  | { readonly as: 'object' }
  | { readonly as: 'Table'; readonly version: string }
  /** `list`: the client asked for PartialObjectMetadataList, which is valid only when the response is a list. */
  | { readonly as: 'PartialObjectMetadata'; readonly version: string; readonly list: boolean };

export interface Negotiated {
  readonly encoding: 'json' | 'yaml';
  readonly representation: Representation;
}

export interface MediaRange {
  readonly type: string;
  readonly quality: number;
  readonly params: ReadonlyMap<string, string>;
}

/** Parses an Accept header, best entry first. Skips invalid media ranges. */
export function parseAccept(header: string): MediaRange[] {
  const sorted: MediaRange[] = [];
  for (const entry of header.split(',')) {
    const range = parseRange(entry.trim());
    if (!range) continue;
    let at = sorted.length;
    while (at > 0 && precedes(range, sorted[at - 1]!)) at--;
    sorted.splice(at, 0, range);
  }
  return sorted;
}

// The rule of kube-apiserver, which is no strict order: a concrete type precedes a wildcard regardless of quality.
function precedes(a: MediaRange, b: MediaRange): boolean {
  if (a.quality > b.quality) return true;
  const wildcards = (range: MediaRange) => range.type.split('*').length - 1;
  return wildcards(a) < wildcards(b);
}

function parseRange(entry: string): MediaRange | undefined {
  const [type, ...rest] = entry.split(';').map((part) => part.trim());
  if (type !== '*' && !/^[^/]+\/[^/]+$/.test(type!)) return undefined;
  const params = new Map<string, string>();
  for (const part of rest) {
    const [key, value, ...more] = part.split('=');
    if (value && more.length === 0) params.set(key!.trim(), value.trim());
  }
  const quality = Number(params.get('q') ?? '1');
  params.delete('q');
  return { type: type === '*' ? '*/*' : type!, quality: Number.isFinite(quality) ? quality : 0, params };
}

const OBJECT: Representation = { as: 'object' };
const DEFAULT: Negotiated = { encoding: 'json', representation: OBJECT };

/** How this range is served, or undefined when it cannot be. */
function serve(range: MediaRange, transforms: boolean): Negotiated | undefined {
  const encoding = encodingOf(range.type);
  if (!encoding || !isStreamServed(range, encoding)) return undefined;
  const representation = representationOf(range);
  if (!representation || (representation.as !== 'object' && !transforms)) return undefined;
  return { encoding, representation };
}

// The only streams are watches, which do not support YAML.
function isStreamServed(range: MediaRange, encoding: 'json' | 'yaml'): boolean {
  const stream = range.params.get('stream');
  return stream === undefined || (stream === 'watch' && encoding === 'json');
}

function representationOf({ params }: MediaRange): Representation | undefined {
  if (!['as', 'g', 'v'].some((param) => params.has(param))) return OBJECT;
  const version = params.get('v') ?? '';
  if (params.get('g') !== 'meta.k8s.io' || !/^v1(beta1)?$/.test(version)) return undefined;
  switch (params.get('as')) {
    case 'Table':
      return { as: 'Table', version };
    case 'PartialObjectMetadata':
      return { as: 'PartialObjectMetadata', version, list: false };
    case 'PartialObjectMetadataList':
      return { as: 'PartialObjectMetadata', version, list: true };
    default:
      return undefined;
  }
}

export function encodingOf(type: string): 'json' | 'yaml' | undefined {
  if (type === 'application/json' || type === '*/*' || type === 'application/*') return 'json';
  return type === 'application/yaml' ? 'yaml' : undefined;
}

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const MEDIA_TYPES = ['application/json', 'application/yaml', PROTOBUF];
const STREAM_TYPES = ['application/json;stream=watch', `${PROTOBUF};stream=watch`];

export interface Offer {
  /** Custom resources and group discovery skip the initial check by media type alone. */
  readonly custom: boolean;
  /** Tables and partial metadata. Default: true. */
  readonly transforms?: boolean;
  /** The endpoint can respond with a stream of events. */
  readonly streams?: boolean;
}

/** Responses are never protobuf; a client that accepts nothing else gets 406. */
export function negotiate(accept: string | undefined, offer: Offer): Negotiated {
  // Fast path for the header that nearly every client sends.
  if (accept === undefined || accept === 'application/json' || accept.trim() === '') return DEFAULT;
  if (!offer.custom && !hasOfferedType(accept))
    throw notAcceptable(offer.streams ? [...MEDIA_TYPES, ...STREAM_TYPES] : MEDIA_TYPES);
  const ranges = parseAccept(accept);
  for (const range of ranges) {
    const served = serve(range, offer.transforms ?? true);
    if (served) return served;
  }
  const onlyProtobuf = ranges.length > 0 && ranges.every((range) => range.type === PROTOBUF);
  throw onlyAccepted(onlyProtobuf ? ['application/json', 'application/yaml'] : MEDIA_TYPES);
}

/** For responses with a single form: the first accepted encoding, or JSON. */
export function plainNegotiation(accept: string | undefined): Negotiated {
  const plain = parseAccept(accept ?? '').find((range) => serve(range, false));
  return { encoding: (plain && encodingOf(plain.type)) ?? 'json', representation: OBJECT };
}

const hasOfferedType = (accept: string): boolean =>
  accept.split(',').some((entry) => {
    const type = entry.split(';', 1)[0]!.trim();
    return type === '*/*' || MEDIA_TYPES.includes(type);
  });

/** A watch does not support YAML. */
export function refuseYamlStream({ encoding }: Negotiated): void {
  if (encoding === 'yaml') throw onlyAccepted(STREAM_TYPES);
}

const onlyAccepted = (types: readonly string[]) =>
  new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${types.join(', ')}`);
