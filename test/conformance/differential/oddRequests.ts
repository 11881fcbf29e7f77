// Requests that are invalid as a whole: methods, content types, bodies that are not objects.

import type { Picker } from '../apply/histories.ts';
import type { Draft, Subject } from './types.ts';

type Odd = (subject: Subject, item: string) => Draft;

const json = { 'content-type': 'application/json' };
const put =
  (raw: string): Odd =>
  (_, item) => ({ method: 'PUT', path: `${item}?dryRun=All`, headers: json, raw });
const post =
  (raw: string): Odd =>
  ({ collection }) => ({ method: 'POST', path: `${collection}?dryRun=All`, headers: json, raw });
const patch =
  (type: string, raw: string): Odd =>
  (_, item) => ({
    method: 'PATCH',
    path: `${item}?dryRun=All&fieldManager=x`,
    headers: { 'content-type': type },
    raw,
  });

const ODD: readonly Odd[] = [
  (_, item) => ({ method: 'POST', path: item, headers: json, raw: '{}' }),
  ({ collection }) => ({ method: 'PUT', path: collection, headers: json, raw: '{}' }),
  ({ collection }) => ({
    method: 'PATCH',
    path: collection,
    headers: { 'content-type': 'application/merge-patch+json' },
    raw: '{}',
  }),
  (_, item) => ({ method: 'GET', path: `${item}/unknown`, headers: {} }),
  (_, item) => ({ method: 'GET', path: `${item}/status/more`, headers: {} }),
  (_, item) => ({ method: 'DELETE', path: `${item}/status`, headers: {} }),
  put(''),
  put('{'),
  put('[]'),
  put('null'),
  put('"text"'),
  put('{"apiVersion":"v1","kind":"Odd"}'),
  put('{"metadata":{"name":"a","name":"a"}}'),
  post(''),
  post('{"kind":"List","apiVersion":"v1","items":[]}'),
  post('[]'),
  post('{"apiVersion":7}'),
  post('{"kind":{}}'),
  patch('application/odd', '{}'),
  patch('application/json', '{}'),
  patch('application/merge-patch+json', '[]'),
  patch('application/merge-patch+json', '{'),
  patch('application/merge-patch+json', 'null'),
  patch('application/merge-patch+json', '"x"'),
  patch('application/merge-patch+json', '{"metadata":null}'),
  patch('application/merge-patch+json', '{"metadata":"x"}'),
  patch('application/merge-patch+json', '{"apiVersion":"odd/v1"}'),
  patch('application/merge-patch+json', '{"kind":"Odd"}'),
  patch('application/merge-patch+json', '{"metadata":{"name":"other"}}'),
  patch('application/merge-patch+json', '{"metadata":{"namespace":"other"}}'),
  patch('application/strategic-merge-patch+json', '[]'),
  patch('application/strategic-merge-patch+json', '{"metadata":{"labels":[]}}'),
  patch('application/json-patch+json', '{}'),
  patch('application/json-patch+json', '[{"op":"replace","path":"/metadata/name","value":"other"}]'),
  patch('application/json-patch+json', '[{"op":"remove","path":"/metadata"}]'),
  patch('application/apply-patch+yaml', '{}'),
  patch('application/apply-patch+yaml', '[]'),
  patch('application/apply-patch+yaml', 'x'),
  patch('application/apply-patch+yaml', '{"apiVersion":"v1"}'),
];

export const oddRequest = (subject: Subject, item: string, pick: Picker): Draft =>
  pick.one(ODD)(subject, item);
