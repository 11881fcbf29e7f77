// Impersonation as a sequence of requests: a service account gets the rights to it one by one, for single requests and
// for all. Run on the real server and on the embedded one.

import type { JsonObject } from '@lapse/kube/api/json';
import { type AccessStep, acting, admin, granted, MAPS, robot, rule } from './stepKit.ts';

const authentication = { apiGroups: ['authentication.k8s.io'] };
const SECRETS = '/api/v1/secrets';

type Headers = NonNullable<AccessStep['headers']>;

const jane = (more: Headers = {}): Headers => ({ 'impersonate-user': 'jane', ...more });
const whoami = (by: (method: string, path: string, body: JsonObject) => AccessStep, headers: Headers) =>
  acting(
    headers,
    by('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
    }),
  );
const agent: typeof robot = (method, path, body) => ({ ...robot(method, path, body), as: 'agent' });
const node = (name: string, more: Headers = {}): Headers => ({
  'impersonate-user': `system:node:${name}`,
  ...more,
});

export const IMPERSONATION_STEPS: readonly AccessStep[] = [
  whoami(robot, jane()),
  // For single requests.
  ...granted('NS-on', [
    rule(['secrets'], ['impersonate-on:user-info:list']),
    rule(['selfsubjectreviews'], ['impersonate-on:user-info:create'], authentication),
  ]),
  whoami(robot, jane()),
  ...granted('NS-be', [
    rule(['users'], ['impersonate:user-info'], authentication),
    rule(['groups'], ['impersonate:user-info'], {
      ...authentication,
      resourceNames: ['', '*', 'system:masters', 'devs', 'CN=a, OU=b'],
    }),
    rule(['userextras/example.com/team', 'userextras/team'], ['impersonate:user-info'], authentication),
  ]),
  whoami(robot, jane()),
  acting(jane(), robot('GET', SECRETS)),
  acting(jane(), robot('GET', MAPS)),
  // Groups: never system:masters, one header line each, many at once.
  acting(jane({ 'impersonate-group': 'system:masters' }), robot('GET', SECRETS)),
  acting(jane({ 'impersonate-group': ['devs', 'system:masters'] }), robot('GET', SECRETS)),
  acting(jane({ 'impersonate-group': '' }), robot('GET', SECRETS)),
  whoami(robot, jane({ 'impersonate-group': 'devs' })),
  whoami(robot, jane({ 'impersonate-group': 'CN=a, OU=b' })),
  whoami(robot, jane({ 'impersonate-group': ['devs', 'CN=a, OU=b'] })),
  whoami(robot, jane({ 'impersonate-group': ['devs', 'b', 'c'] })),
  whoami(robot, jane({ 'impersonate-group': ['devs', 'b', 'c', 'd'] })),
  // Extra: keys with a domain.
  whoami(robot, jane({ 'impersonate-extra-example.com%2fteam': ['web', 'mail'] })),
  whoami(robot, jane({ 'impersonate-extra-example.com%2fother': 'web' })),
  whoami(robot, jane({ 'impersonate-extra-team': 'web' })),
  whoami(robot, jane({ 'impersonate-extra-example.com%2f%54eam': 'web' })),
  whoami(robot, jane({ 'impersonate-extra-example_com%2ft%5e': 'web' })),
  whoami(robot, jane({ 'impersonate-extra-example.com%2fteam': '' })),
  whoami(robot, jane({ 'impersonate-extra-': 'web' })),
  // The order of refusals.
  whoami(robot, jane({ 'impersonate-uid': '7', 'impersonate-group': 'g', 'impersonate-extra-x': 'y' })),
  whoami(robot, jane({ 'impersonate-group': 'g', 'impersonate-extra-x': 'y' })),
  // Without a user to impersonate.
  whoami(admin, { 'impersonate-group': 'g' }),
  whoami(admin, { 'impersonate-group': ['g', 'h"i'], 'impersonate-uid': '7' }),
  whoami(admin, {
    'impersonate-group': '',
    'impersonate-extra-b': ['x', 'y'],
    'impersonate-extra-a%2fb': 'z',
  }),
  // Nodes: any node, and the node the caller runs on.
  whoami(admin, node('n1')),
  whoami(admin, node('Not_A_Node')),
  whoami(robot, node('n1')),
  whoami(robot, node('node-of-NS')),
  whoami(agent, node('node-of-NS')),
  whoami(agent, node('n1')),
  ...granted('NS-node-on', [
    rule(['selfsubjectreviews'], ['impersonate-on:associated-node:create'], authentication),
    rule(['nodes'], ['impersonate:associated-node'], { ...authentication, resourceNames: ['node-of-NS'] }),
  ]),
  whoami(agent, node('node-of-NS')),
  ...granted('NS-node-be', [rule(['nodes'], ['impersonate:associated-node'], authentication)]),
  whoami(agent, node('node-of-NS')),
  whoami(robot, node('node-of-NS')),
  whoami(agent, node('node-of-NS', { 'impersonate-group': 'g' })),
  ...granted('NS-nodes', [
    rule(['selfsubjectreviews'], ['impersonate-on:arbitrary-node:create'], authentication),
    rule(['nodes'], ['impersonate:arbitrary-node'], { ...authentication, resourceNames: ['n1'] }),
  ]),
  whoami(robot, node('n1')),
  whoami(robot, node('n2')),
  // Service accounts.
  whoami(admin, { 'impersonate-user': 'system:serviceaccount:NS:robot' }),
  whoami(admin, { 'impersonate-user': 'system:serviceaccount:NS:Not_One' }),
  whoami(robot, { 'impersonate-user': 'system:serviceaccount:NS:default' }),
  whoami(robot, { 'impersonate-user': 'system:serviceaccount:NS:default', 'impersonate-group': 'g' }),
  // The old verb, and the way that was allowed last.
  whoami(admin, node('n1', { 'impersonate-group': 'g' })),
  whoami(admin, node('n1')),
  ...granted('NS-old', [
    rule(['users'], ['impersonate']),
    rule(['groups'], ['impersonate'], { resourceNames: ['system:masters', 'g', 'h', 'i', '*'] }),
  ]),
  acting(jane({ 'impersonate-group': 'system:masters' }), robot('GET', SECRETS)),
  whoami(robot, jane({ 'impersonate-uid': '7' })),
  whoami(robot, jane({ 'impersonate-group': ['g', 'h', 'i', 'j'] })),
  whoami(robot, node('n2')),
  whoami(robot, node('n2', { 'impersonate-uid': '7', 'impersonate-group': 'k' })),
  acting(jane(), robot('GET', '/no&such<path>')),
];
