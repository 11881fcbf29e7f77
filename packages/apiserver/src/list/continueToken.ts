// Continue tokens: the start of the next page and its revision. Opaque to clients, in the upstream format (base64url
// of JSON), so that an invalid token gets the same error.

import { badRequest } from '@lapse/kube/api/errors';
import { isObject } from '@lapse/kube/api/json';
import { JsonSyntaxError, parseJson } from '@lapse/kube/api/jsonParse';

export interface ContinueToken {
  /** Undefined: continue at the current revision. */
  readonly revision: number | undefined;
  /** The last key of the previous page, relative to the prefix of the list. */
  readonly after: string;
}

const VERSION = 'meta.k8s.io/v1';

export function writeToken(token: ContinueToken): string {
  const json = JSON.stringify({ v: VERSION, rv: token.revision ?? -1, start: `${token.after}\u0000` });
  return Buffer.from(json).toString('base64url');
}

export function readToken(text: string): ContinueToken {
  const value = decode(text);
  if (!isObject(value) || value['v'] !== VERSION) {
    throw invalidToken(
      `continue key is not valid: server does not recognize this encoded version ${JSON.stringify(isObject(value) ? (value['v'] ?? '') : '')}`,
    );
  }
  const { rv, start } = value;
  if (typeof rv !== 'number' || rv === 0 || !Number.isInteger(rv)) {
    throw invalidToken(
      'continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    );
  }
  if (typeof start !== 'string' || start === '') {
    throw invalidToken('continue key is not valid: encoded start key empty (version meta.k8s.io/v1)');
  }
  const after = start.endsWith('\u0000') ? start.slice(0, -1) : start;
  // Keys are names: rejects a path that could leave the list.
  const steps = after.split('/');
  if (steps.some((step, i) => step === '.' || step === '..' || (step === '' && i > 0))) {
    throw invalidToken(`continue key is not valid: ${start}`);
  }
  return { revision: rv < 0 ? undefined : rv, after };
}

const invalidToken = (why: string) => badRequest(`invalid continue token: ${why}`);

function decode(text: string): unknown {
  const strange = text.search(/[^A-Za-z0-9_-]/);
  const at = strange >= 0 ? strange : text.length % 4 === 1 ? text.length - 1 : -1;
  if (at >= 0) throw invalidToken(`continue key is not valid: illegal base64 data at input byte ${at}`);
  const bytes = Buffer.from(text, 'base64url');
  // The upstream scanner works on bytes: it prints an invalid byte as the character with its value.
  if (bytes.length > 0 && bytes[0]! >= 0x80) {
    const shown = bytes[0]! < 0xa0 ? `\\u00${bytes[0]!.toString(16)}` : String.fromCharCode(bytes[0]!);
    throw invalidToken(
      `continue key is not valid: invalid character '${shown}' looking for beginning of value`,
    );
  }
  try {
    return parseJson(bytes).value;
  } catch (cause) {
    if (cause instanceof JsonSyntaxError) throw invalidToken(`continue key is not valid: ${cause.message}`);
    throw cause;
  }
}
