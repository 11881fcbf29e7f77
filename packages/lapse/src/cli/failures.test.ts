import { ApiError } from '@lapse/kube/api/status';
import { ConfigError } from '@lapse/kube/client/configFields';
import { apiErrorFrom } from '@lapse/kube/client/errors';
import { TransportError } from '@lapse/kube/client/transport';
import { expect, test } from 'vitest';
import { UsageError } from '#manager/usage';
import { wantsColour } from './colour.ts';
import { computeFailure } from './failures.ts';

const unreachable = new TransportError('unreachable', 'request to x could not be sent', { sent: false });

test.each<[string, unknown, 1 | 2, RegExp]>([
  ['a usage error of the command', new UsageError('--for 7x: no'), 2, /^--for 7x: no$/],
  ['a kubeconfig that is unusable', new ConfigError('a.yaml', 'no'), 2, /^a\.yaml: no$/],
  [
    'an API server that does not respond',
    unreachable,
    1,
    /^request to x could not be sent; check that the API server is running.*--context/,
  ],
  ['credentials that have expired', new ApiError(401, 'Unauthorized', 'Unauthorized'), 1, /expired: log in/],
  ['a right that is missing', new ApiError(403, 'Forbidden', 'no'), 1, /^no; request this permission/],
  [
    'an API server that is unavailable',
    new ApiError(503, 'ServiceUnavailable', 'no'),
    1,
    /\(503\): no; try again later$/,
  ],
  [
    'an HTML page as response',
    apiErrorFrom({
      status: 404,
      headers: { 'content-type': 'text/html' },
      body: Buffer.from('<!DOCTYPE html>\n<html><h1>404</h1></html>'),
    }),
    1,
    /^the server responded with status 404 \(text\/html\); check that this is the address of a Kubernetes API server/,
  ],
  [
    'an HTML page instead of JSON',
    new TransportError('malformed', 'GET /api: the answer (text/html) is not JSON: <!DOCTYPE html>\n<html>', {
      sent: true,
    }),
    1,
    /^GET \/api: the answer \(text\/html\) is not JSON; check that this is the address/,
  ],
  [
    'a certificate of an unknown CA',
    new TransportError(
      'unreachable',
      'request to x could not be sent: unable to get local issuer certificate; if the root CA is installed locally, try running Node.js with --use-system-ca',
      { sent: false },
    ),
    1,
    /unable to get local issuer certificate; the certificate of the server is not signed by certificate-authority/,
  ],
  [
    'a kubeconfig with invalid YAML',
    new ConfigError('a.yaml', 'not YAML: x at line 2:\n\na: [\n^'),
    2,
    /at line 2$/,
  ],
  [
    'an API server message that looks like HTML',
    new ApiError(422, 'Invalid', 'spec.finishedAt: ERROR: <input>:1:15: Syntax error'),
    1,
    /ERROR: <input>:1:15: Syntax error$/,
  ],
  ['any other refusal', new ApiError(409, 'Conflict', 'changed'), 1, /^changed$/],
  [
    'an unexpected internal error',
    new TypeError('x is not a function'),
    1,
    /please report .*\nTypeError: x.*\n +at /,
  ],
])('%s', (_name, cause, code, text) => {
  const failure = computeFailure(cause);
  expect(failure.code).toBe(code);
  expect(failure.text).toMatch(text);
  if (!(cause instanceof TypeError)) expect(failure.text).not.toMatch(/\n/);
});

test.each<[string, boolean | undefined, Record<string, string>, boolean]>([
  ['a terminal', true, {}, true],
  ['a pipe', undefined, {}, false],
  ['NO_COLOR', true, { NO_COLOR: '1' }, false],
  ['NO_COLOR that is empty', true, { NO_COLOR: '' }, true],
  ['a terminal without colours', true, { TERM: 'dumb' }, false],
])('colours on %s: %#', (_name, isTTY, environment, expected) => {
  expect(wantsColour(isTTY === undefined ? {} : { isTTY }, environment)).toBe(expected);
});
