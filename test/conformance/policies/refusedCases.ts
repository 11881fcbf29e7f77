// Policies and bindings that are refused when they are written.

import type { JsonObject } from '@lapse/kube/api/json';
import { annotations, condition, failing, type PolicyCase, policy, variables } from './builders.ts';

const refused = (
  name: string,
  validations: readonly (string | JsonObject)[],
  more: JsonObject = {},
): PolicyCase => ({
  name: `refuses ${name}`,
  policies: [{ ...policy(validations, more), bindings: [] }],
  writes: [],
});
const PARAMS = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } };

export const REFUSED_CASES: readonly PolicyCase[] = [
  refused('a syntax error', ['object.']),
  refused('several syntax errors', ['object..x +', ') true']),
  refused('an unknown name', ['objects.metadata.name == "a"']),
  refused('an unknown function', ['object.metadata.name.frobnicate()']),
  refused('a validation that is no bool', ['object.metadata.name', '"x"', '[1]', 'null', '{"a": 1}']),
  refused('other types', [
    'duration("1h")',
    'timestamp("2024-01-01T00:00:00Z")',
    'type(1)',
    'optional.of(1)',
    '1u',
    '1.5',
    'b"x"',
    'quantity("1")',
    'request',
    'authorizer',
  ]),
  refused('unknown fields of the request', [
    'request.uid == ""',
    'request.object == null',
    'request.userInfo.name == "x"',
  ]),
  refused('fields of the namespace', [
    'namespaceObject.metadata.ownerReferences == null',
    'namespaceObject.kind == "x"',
  ]),
  refused('comparisons of different types', [
    'request.name == 1',
    'request.dryRun == "x"',
    'request.name > 2',
  ]),
  refused('parameters without a kind of them', ['params.x == 1']),
  refused('variables without variables', ['variables.x == 1']),
  refused('an unknown variable', ['variables.y'], variables({ x: 'true' })),
  refused('a variable before its declaration', ['variables.x'], variables({ x: 'variables.y', y: 'true' })),
  refused('a variable of itself', ['variables.x'], variables({ x: 'variables.x' })),
  refused('a variable of another type', ['variables.x + 1 == 2'], variables({ x: '"text"' })),
  refused('a variable that does not compile', ['variables.x'], variables({ x: 'nothing.there' })),
  refused(
    'a variable with a reserved name',
    ['variables.x'],
    variables({ x: 'true', for: 'true', '1x': 'true' }),
  ),
  refused('a message that is no text', [
    failing({ messageExpression: '1' }),
    failing({ messageExpression: 'object.x' }),
  ]),
  refused('a message that does not compile', [failing({ messageExpression: 'object.' })]),
  refused('a message that asks for rights', [
    failing({ messageExpression: 'authorizer.path("/").check("get").reason()' }),
  ]),
  refused('a blank message', [failing({ messageExpression: '  ' }), failing({ message: ' ' })]),
  refused('a message with line breaks', [failing({ message: 'a\nb' })]),
  refused('an unknown reason', [failing({ reason: 'Purple' })]),
  refused('an annotation of another type', [], annotations({ a: '1', b: 'object.x', c: '["x"]' })),
  refused('an annotation that does not compile', [], annotations({ a: ' object. ' })),
  refused('a blank annotation', [], annotations({ a: ' ' })),
  refused('a condition with variables', ['true'], {
    ...variables({ x: 'true' }),
    ...condition('variables.x'),
  }),
  refused('a condition that is no bool', ['true'], condition('  "x"  ', 'object.spec')),
  refused('a condition with parameters, without a kind of them', ['true'], condition('params == null')),
  refused('a literal that can only fail', [
    'timestamp("yesterday") < timestamp("2024-01-01T00:00:00Z")',
    '"x".matches("(")',
  ]),
  refused('mixed lists', ['[1, "x"].size() == 2']),
  refused('a division by zero', ['1 / 0 == 1']),
  refused('wrong calls of the authorizer', [
    'authorizer.group("").check("x").allowed()',
    'authorizer.allowed()',
    'authorizer.path(1).check("x").allowed()',
    'authorizer.verb',
  ]),
  refused('nothing to validate', []),
  refused('no rules', ['true'], { matchConstraints: { resourceRules: [] } }),
  {
    name: 'accepts parameters in messages and annotations',
    policies: [
      {
        ...policy([failing({ messageExpression: 'string(params.data.x)' })], {
          ...PARAMS,
          ...annotations({ a: 'string(params.data.x)' }),
        }),
        bindings: [],
      },
    ],
    writes: [],
  },
  {
    name: 'refuses bindings',
    policies: [
      policy(
        ['true'],
        PARAMS,
        { validationActions: [] },
        { validationActions: ['Deny', 'Warn'] },
        { validationActions: ['Shout', 'Audit', 'Audit'] },
        { policyName: '' },
        { paramRef: {} },
        { paramRef: { name: 'x', selector: {}, parameterNotFoundAction: 'Perhaps' } },
        { matchResources: { matchPolicy: 'Fuzzy', resourceRules: [{}] } },
      ),
    ],
    writes: [],
  },
];
