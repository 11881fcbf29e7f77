// Requests that look dangerous but are valid: their contents are stored exactly, byte for byte. `excerpt` is in the raw
// answer to a GET of the object afterwards.

import type { BadRequest } from './requests.ts';

export interface Accepted extends BadRequest {
  readonly name: string;
  readonly excerpt: string;
  /** A Warning header that the answer must have. */
  readonly warning?: string;
}

const maps = '/api/v1/namespaces/{{ns}}/configmaps';
const jobs = '/apis/batch/v1/namespaces/{{ns}}/jobs';
const widgets = '/apis/bad.example.com/v1/namespaces/{{ns}}/widgets';
const type = 'application/json';

let serial = 0;
const nextName = () => `fine-${++serial}`;

type More = Partial<Pick<Accepted, 'warning' | 'path'>> & { metadata?: string };

function map(rest: string, excerpt: string, { metadata = '', ...more }: More = {}): Accepted {
  const name = nextName();
  const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"${metadata}}${rest}}`;
  return { method: 'POST', path: maps, type, body, name, excerpt, ...more };
}

function widget(spec: string, excerpt: string, more: More = {}): Accepted {
  const name = nextName();
  const body = `{"apiVersion":"bad.example.com/v1","kind":"Widget","metadata":{"name":"${name}"},"spec":${spec}}`;
  return { method: 'POST', path: widgets, type, body, name, excerpt, ...more };
}

function job(spec: string, excerpt: string): Accepted {
  const name = nextName();
  const template = '{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"a"}]}}';
  const body = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"${name}"},"spec":{${spec},"template":${template}}}`;
  return { method: 'POST', path: jobs, type, body, name, excerpt };
}

export const ACCEPTED: Readonly<Record<string, Accepted>> = {
  '__proto__ is an ordinary key of data': map(',"data":{"__proto__":"x"}', '"data":{"__proto__":"x"}'),
  'so are constructor and toString': map(
    ',"data":{"constructor":"x","toString":"y"}',
    '"data":{"constructor":"x","toString":"y"}',
  ),
  'constructor is an ordinary label': map('', '"labels":{"constructor":"x"}', {
    metadata: ',"labels":{"constructor":"x"}',
  }),
  'hasOwnProperty is an ordinary annotation': map('', '"annotations":{"hasOwnProperty":"x"}', {
    metadata: ',"annotations":{"hasOwnProperty":"x"}',
  }),
  '__proto__ is kept where a schema keeps unknown fields': widget(
    '{"any":{"__proto__":{"polluted":true}}}',
    '"any":{"__proto__":{"polluted":true}}',
  ),
  '__proto__ is pruned where it does not': widget('{"n":1,"__proto__":{"polluted":true}}', '"spec":{"n":1}', {
    warning: 'unknown field \\"spec.__proto__\\"',
  }),
  'an integer beyond 2^53 in a built-in': job(
    '"activeDeadlineSeconds":9007199254740993',
    '"activeDeadlineSeconds":9007199254740993',
  ),
  'an integer beyond 2^53 in a custom resource': widget('{"n":9007199254740993}', '"n":9007199254740993'),
  'the smallest 64-bit integer': widget('{"n":-9223372036854775808}', '"n":-9223372036854775808'),
  'an integer beyond 2^53 where unknown fields are kept': widget(
    '{"any":{"deep":[9007199254740993]}}',
    '"any":{"deep":[9007199254740993]}',
  ),
  'an escaped NUL in a text': map(',"data":{"k":"a\\u0000b"}', '"data":{"k":"a\\u0000b"}'),
  'half a surrogate pair becomes the replacement character': map(
    ',"data":{"k":"\\ud800"}',
    '"data":{"k":"\ufffd"}',
  ),
  'of two equal keys the last one wins, with a warning': map(
    ',"data":{"k":"1","k":"2"}',
    '"data":{"k":"2"}',
    {
      warning: 'duplicate field \\"data.k\\"',
    },
  ),
  'an unknown field is dropped, with a warning': map(
    ',"dada":{"k":"v"},"data":{"k":"v"}',
    '"data":{"k":"v"}',
    {
      warning: 'unknown field \\"dada\\"',
    },
  ),
  'an unknown field is dropped silently on request': map(
    ',"dada":{"k":"v"},"data":{"k":"v"}',
    '"data":{"k":"v"}',
    {
      path: `${maps}?fieldValidation=Ignore`,
    },
  ),
  'the keys of a map come back sorted': map(',"data":{"b":"1","a":"2"}', '"data":{"a":"2","b":"1"}'),
};
