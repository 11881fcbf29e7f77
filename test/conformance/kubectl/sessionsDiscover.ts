// Discovery of the server and its kinds, and information about the user.

import { defineWidgets } from './sessionsRead.ts';
import { k, type Session } from './types.ts';

const FEWER_KINDS = { kind: 'part' as const, reason: 'the embedded server does not serve all kinds' };
const NO_PROSE = { kind: 'withoutProse' as const, reason: 'the embedded server has no field descriptions' };
const OWN_VERSION = { kind: 'differs' as const, reason: 'the version names the embedded server and Node' };

export const DISCOVER_SESSIONS: readonly Session[] = [
  {
    name: 'discovery',
    commands: [
      k('api-versions', { compare: FEWER_KINDS }),
      k('api-resources --no-headers', { compare: FEWER_KINDS }),
      k('api-resources --no-headers -o wide', { compare: FEWER_KINDS }),
      k('api-resources --api-group=batch'),
      k('api-resources --namespaced=false --api-group=apiextensions.k8s.io'),
      ...defineWidgets,
      k('api-resources --api-group={{ns}}.example.com'),
      k('version -o yaml', { compare: OWN_VERSION }),
      k('get --raw /healthz'),
      k('get --raw /readyz'),
      k('get --raw /version', { compare: OWN_VERSION }),
      k('get --raw /nothing/here'),
    ],
  },
  {
    name: 'explain',
    commands: [
      ...defineWidgets,
      k('explain job', { compare: NO_PROSE }),
      k('explain job.spec', { compare: NO_PROSE }),
      k('explain job.spec.template.spec.containers', { compare: NO_PROSE }),
      k('explain cm --recursive', { compare: NO_PROSE }),
      k('explain deployment --recursive', { compare: NO_PROSE }),
      k('explain {{widget}}', { compare: NO_PROSE, untilSuccess: true }),
      k('explain {{widget}}.spec'),
      k('explain {{widget}} --recursive', { compare: NO_PROSE }),
      k('explain job.nothing'),
      k('explain nothing'),
    ],
  },
  {
    name: 'access',
    commands: [
      k('auth whoami', { sendsProtobuf: true }),
      k('auth can-i create jobs', { sendsProtobuf: true }),
      k('auth can-i create jobs --as=nobody'),
      k('get cm --as=nobody'),
      k('auth whoami --as=nobody --as-group=friends'),
      k('create role reader --verb=get,list --resource=configmaps'),
      k('create rolebinding reads --role=reader --user=nobody'),
      k('auth can-i list configmaps --as=nobody'),
      k('get cm kube-root-ca.crt --as=nobody --ignore-not-found'),
      k('create cm mine --as=nobody'),
    ],
  },
];
