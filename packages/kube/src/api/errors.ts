// Constructors for the errors of an API server, with the same reasons and messages as Kubernetes.

import { quoteGo } from './fieldErrors.ts';
import { ApiError, type StatusDetails } from './status.ts';

/** The resource in a message: `jobs` of group `batch`, or the kind where Kubernetes uses that. */
export interface Named {
  readonly group: string;
  readonly plural: string;
}

const qualified = (r: Named) => (r.group === '' ? r.plural : `${r.plural}.${r.group}`);

function detailsOf(r: Named, name: string): StatusDetails {
  return { ...(name ? { name } : {}), ...(r.group ? { group: r.group } : {}), kind: r.plural };
}

export const notFound = (r: Named, name: string) =>
  new ApiError(404, 'NotFound', `${qualified(r)} ${quoteGo(name)} not found`, detailsOf(r, name));

export const alreadyExists = (r: Named, name: string) =>
  new ApiError(409, 'AlreadyExists', `${qualified(r)} ${quoteGo(name)} already exists`, detailsOf(r, name));

export const conflict = (r: Named, name: string, why: string) =>
  new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(r)} ${quoteGo(name)}: ${why}`,
    detailsOf(r, name),
  );

export const MODIFIED =
  'the object has been modified; please apply your changes to the latest version and try again';

export const badRequest = (message: string) => new ApiError(400, 'BadRequest', message);

export const unauthorized = () => new ApiError(401, 'Unauthorized', 'Unauthorized');

export const forbidden = (r: Named, name: string, why: string) =>
  new ApiError(
    403,
    'Forbidden',
    name ? `${qualified(r)} ${quoteGo(name)} is forbidden: ${why}` : `${qualified(r)} is forbidden: ${why}`,
    detailsOf(r, name),
  );

/** 404 for a path or resource that is not served. */
export const noSuchResource = () =>
  new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});

export const methodNotAllowed = () =>
  new ApiError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );

export const notAcceptable = (types: readonly string[]) =>
  new ApiError(
    406,
    'NotAcceptable',
    `406: Not Acceptable\n\nAvailable representations: ${types.join(', ')}`,
    {},
  );

export const unsupportedMediaType = (types: readonly string[]) =>
  new ApiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${types.join(', ')}`,
  );

/** 410: the history that a watch or continue token needs was compacted. */
export const expired = (message: string) => new ApiError(410, 'Expired', message);

/** 500 without a reason: how Kubernetes reports unexpected errors. */
export const internal = (message: string) => new ApiError(500, undefined, message);

export const internalError = (message: string) =>
  new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });

export const notImplemented = (what: string) =>
  new ApiError(501, 'NotImplemented', `${what} is not implemented by this server`);
