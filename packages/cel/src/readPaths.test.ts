import { expect, test } from 'vitest';
import { compile, conditionEnvironment, DYN, readPaths } from './cel.ts';

const env = conditionEnvironment({ object: DYN, other: DYN });

function paths(text: string): string {
  const compiled = compile(text, env);
  if (compiled.kind === 'invalid') throw new Error(compiled.message);
  const found = readPaths(compiled.program, 'object');
  return found === undefined ? 'all' : [...new Set(found.map((path) => path.join('.')))].sort().join(' ');
}

test.each([
  ['object.status.completionTime', 'status.completionTime'],
  ['object.?status.?completionTime.orValue(null)', 'status.completionTime'],
  ["object['status'][?'x']", 'status.x'],
  ['has(object.status.x) ? object.status.x : null', 'status.x'],
  ["object.metadata.annotations['a/b']", 'metadata.annotations.a/b'],
  ['object.status.conditions.exists(c, c.type == "Succeeded")', 'status.conditions'],
  ['object.status.conditions[0].x', 'status.conditions'],
  ['object.status[object.spec.key]', 'spec.key status'],
  ['size(object.status) > 1 && object.spec.a', 'spec.a status'],
  ['other.status', ''],
  ['[1].exists(object, object == 1)', ''],
  ['object', 'all'],
  ['size(object) > 1', 'all'],
  ['object.map(k, k)', 'all'],
  ['cel.bind(o, object, o.x)', 'all'],
  ['object[other.name]', 'all'],
  ['[object].exists(o, o.x == 1)', 'all'],
  ['object == other', 'all'],
  ['object.__proto__.constructor', '__proto__.constructor'],
])('%s reads %s', (text, expected) => {
  expect(paths(text)).toBe(expected);
});
