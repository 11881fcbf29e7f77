// The inputs of expressions: variables, the request, the namespace, the authorizer.

import { create, MAPS, map } from '../webhooks/builders.ts';
import { failing, type PolicyCase, policy, variables } from './builders.ts';

const FIRST = [create('a')];
const shows = (name: string, messageExpression: string, more = {}): PolicyCase => ({
  name,
  policies: [policy([failing({ messageExpression, message: 'not computed' })], more)],
  writes: FIRST,
});
const CONFIGMAPS = 'authorizer.group("").resource("configmaps").namespace("NS")';
const allowed = (name: string, check: string): PolicyCase => ({
  name,
  policies: [policy([`${check}.allowed()`])],
  writes: FIRST,
});

export const EXPRESSION_CASES: readonly PolicyCase[] = [
  {
    name: 'variables follow from each other',
    policies: [
      policy(
        [
          'variables.long',
          { expression: 'variables.both == "x"', messageExpression: '"is " + variables.both' },
        ],
        variables({
          name: 'object.metadata.name',
          both: 'variables.name + "-" + string(size(variables.name))',
          long: 'size(variables.both) > 2',
        }),
      ),
    ],
    writes: FIRST,
  },
  {
    name: 'a variable that fails matters only when it is read',
    policies: [
      policy(
        ['object.metadata.name == "a" || variables.broken'],
        variables({ broken: 'object.data.missing == "x"' }),
      ),
    ],
    writes: [create('a'), create('b')],
  },
  {
    name: 'a variable that fails behind another',
    policies: [
      policy(
        ['variables.outer'],
        variables({ inner: 'object.data.missing == "x"', outer: 'variables.inner' }),
      ),
    ],
    writes: FIRST,
  },
  {
    name: 'presence of a variable evaluates it',
    policies: [policy(['has(variables.broken)'], variables({ broken: 'object.data.missing == "x"' }))],
    writes: FIRST,
  },
  {
    name: 'variables of every type',
    policies: [
      policy(
        [
          'variables.list.exists(s, s == "y")',
          'variables.map["k"] == 1',
          'variables.double < 2.0 && variables.duration < duration("2h")',
          'variables.nothing == null',
          'variables.quantity.isGreaterThan(quantity("1"))',
          'variables.optional.orValue("none") == "none"',
          failing({ messageExpression: 'variables.list.join(",") + string(variables.at)' }),
        ],
        variables({
          list: '["x", "y"]',
          map: '{"k": 1}',
          double: '1.5',
          duration: 'duration("1h")',
          nothing: 'null',
          quantity: 'quantity("2")',
          optional: 'object.?data.?missing',
          at: 'timestamp("2024-01-01T00:00:00Z")',
        }),
      ),
    ],
    writes: FIRST,
  },
  {
    name: 'old and new objects',
    policies: [
      policy(['oldObject == null || object.data.k == oldObject.data.k'], {
        matchConstraints: {
          resourceRules: [
            {
              operations: ['CREATE', 'UPDATE'],
              apiGroups: [''],
              apiVersions: ['v1'],
              resources: ['configmaps'],
            },
          ],
        },
      }),
    ],
    writes: [
      { method: 'POST', path: MAPS, body: { ...map('a'), data: { k: '1' } } },
      { method: 'PUT', path: `${MAPS}/a`, body: { ...map('a', { labels: { x: 'y' } }), data: { k: '1' } } },
      { method: 'PUT', path: `${MAPS}/a`, body: { ...map('a'), data: { k: '2' } } },
    ],
  },
  shows(
    'the request',
    '[request.operation, request.name, request.namespace, request.kind.kind, request.resource.resource, request.requestKind.version, request.requestResource.group, request.userInfo.username, request.userInfo.groups.join("+")].join(",")',
  ),
  shows(
    'what is absent from the request',
    '[has(request.subResource), has(request.requestSubResource), has(request.userInfo.extra), has(request.options.fieldManager), has(request.dryRun)].map(b, string(b)).join(",")',
  ),
  shows('the options of the request', 'request.options.kind + request.options.apiVersion'),
  shows('the namespace', 'namespaceObject.metadata.name + namespaceObject.metadata.labels.team'),
  shows('the state of the namespace', 'namespaceObject.status.phase + namespaceObject.spec.finalizers[0]'),
  shows('nothing else of the namespace', 'string(has(namespaceObject.metadata.generation))'),
  shows(
    'metadata that the server fills in',
    'string(size(object.metadata.uid)) + object.kind + object.apiVersion',
  ),
  allowed('the author may create', `${CONFIGMAPS}.check("create")`),
  allowed('the author may do what is asked', 'authorizer.requestResource.check("create")'),
  allowed('the author may read a path', 'authorizer.path("/healthz").check("get")'),
  allowed(
    'the author may do anything to a named object',
    `${CONFIGMAPS}.subresource("status").name("x").check("frob")`,
  ),
  allowed(
    'a service account may do nothing',
    'authorizer.serviceAccount("default", "robot").group("").resource("configmaps").namespace("NS").check("create")',
  ),
  allowed(
    'a service account without a valid name',
    'authorizer.serviceAccount("default", "no name").group("").resource("pods").check("get")',
  ),
  allowed(
    'a service account without a valid namespace',
    'authorizer.serviceAccount("no.namespace", "x").group("").resource("pods").check("get")',
  ),
  allowed('a resource without a name', 'authorizer.group("").resource(" ").check("get")'),
  allowed('a path without a name', 'authorizer.path("").check("get")'),
  allowed(
    'selectors',
    `${CONFIGMAPS}.fieldSelector("metadata.name=x").labelSelector("a in (b)").check("list")`,
  ),
  {
    name: 'checks say why and whether they failed',
    policies: [
      policy(
        ['variables.decision == ""'],
        variables({
          check: `${CONFIGMAPS}.check("create")`,
          decision: 'variables.check.reason() + variables.check.error() + string(variables.check.errored())',
        }),
      ),
    ],
    writes: FIRST,
  },
  {
    name: 'two checks are all that one expression affords',
    policies: [
      policy([
        '["get", "list"].all(v, authorizer.requestResource.check(v).allowed())',
        '["get", "list", "watch"].all(v, authorizer.requestResource.check(v).allowed())',
      ]),
    ],
    writes: FIRST,
  },
  {
    name: 'conditions may ask for rights',
    policies: [
      policy(['false'], {
        matchConditions: [
          {
            name: 'not-admin',
            expression: '!authorizer.group("").resource("nodes").check("delete").allowed()',
          },
        ],
      }),
    ],
    writes: FIRST,
  },
];
