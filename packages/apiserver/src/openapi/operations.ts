// Operations and path items: the parameters and responses of each method.

import type { JsonObject } from '@lapse/kube/api/json';
import { reference } from './names.ts';
import { parameter, pathParameters } from './parameters.ts';

export interface GroupVersionKindRef {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface Operation {
  readonly method: 'get' | 'put' | 'post' | 'delete' | 'patch';
  readonly id: string;
  readonly tag: string;
  /** Query parameters in addition to `pretty`. */
  readonly query?: readonly string[];
  readonly body?: { readonly types: readonly string[]; readonly schema: string; readonly required: boolean };
  /** Status codes of success. */
  readonly codes?: readonly number[];
  readonly response: { readonly types: readonly string[]; readonly schema: string };
  /** `list`, `post`, `watchlist`, …; absent for discovery. */
  readonly action?: string;
  readonly gvk?: GroupVersionKindRef;
}

const REASONS: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' };
const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** A path with all its operations. Parameters that all operations share are listed once for the path. */
export function pathItem(path: string, operations: readonly Operation[]): JsonObject {
  const inPath = pathParameters(path);
  const isResource = operations.some((operation) => operation.action);
  const own = operations.map((operation) => [
    ...(operation.query ?? []),
    ...(isResource ? ['pretty'] : []),
    ...inPath,
  ]);
  const shared = own[0]!.filter((name) => own.every((names) => names.includes(name)));
  const parameters = (names: readonly string[]) =>
    [...names].sort().map((name) => parameter(name, inPath.includes(name)));
  const item: JsonObject = {};
  for (const method of METHODS) {
    const at = operations.findIndex((operation) => operation.method === method);
    if (at < 0) continue;
    const rest = parameters(own[at]!.filter((name) => !shared.includes(name)));
    item[method] = operationJson(operations[at]!, rest);
  }
  if (shared.length > 0) item['parameters'] = parameters(shared);
  return item;
}

function operationJson(operation: Operation, parameters: JsonObject[]): JsonObject {
  const { id, tag, body, response, action, gvk, codes = [200] } = operation;
  const responseContent = content(response.types, response.schema);
  const responses = codes.map((code) => [code, { description: REASONS[code]!, content: responseContent }]);
  return {
    tags: [tag],
    operationId: id,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? {
          requestBody: {
            content: content(body.types, body.schema),
            ...(body.required ? { required: true } : {}),
          },
        }
      : {}),
    responses: { ...Object.fromEntries(responses), 401: { description: 'Unauthorized' } },
    ...(action ? { 'x-kubernetes-action': action } : {}),
    ...(gvk
      ? { 'x-kubernetes-group-version-kind': { group: gvk.group, version: gvk.version, kind: gvk.kind } }
      : {}),
  };
}

const content = (types: readonly string[], schema: string): JsonObject =>
  Object.fromEntries(types.map((type) => [type, { schema: reference(schema) }]));
