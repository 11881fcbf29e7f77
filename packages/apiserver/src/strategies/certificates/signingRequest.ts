// Strategy of CertificateSigningRequest. The server records the requesting user; conditions are added through
// `approval`, the certificate through `status`. Only users with the permission for the signer may do so.

import { X509Certificate } from 'node:crypto';
import { formatTime } from '@lapse/base/instant';
import { forbidden as refused } from '@lapse/kube/api/errors';
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '@lapse/kube/api/fieldErrors';
import { equal, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import {
  type Strategy,
  type StrategyContext,
  specOf,
  statusOf,
  type UpdateStrategy,
} from '../../resources/resource.ts';
import { metaOf, metaUpdate } from '../checks.ts';
import { assign, copyField, ensure, number, objects, text, texts, value } from '../values.ts';
import { InvalidRequest, parseRequest } from './certificateRequest.ts';
import { validateSignerName } from './signerName.ts';

const GROUP = 'certificates.k8s.io';
const RESOURCE = { group: GROUP, plural: 'certificatesigningrequests' };
const decoded = (base64: string) => Buffer.from(base64, 'base64').toString();
const conditionsOf = (object: KubeObject): JsonObject[] => objects(statusOf(object), 'conditions');
const anyName = () => [];

const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

function validate(object: KubeObject): FieldError[] {
  const spec = specOf(object);
  const usages = texts(spec, 'usages');
  const seconds = number(spec, 'expirationSeconds');
  return [
    ...requestErrors(text(spec, 'request')),
    ...(usages.length === 0 ? [required('spec.usages')] : []),
    ...usages.flatMap((u, i) => (USAGES.includes(u) ? [] : [notSupported(`spec.usages[${i}]`, u, USAGES)])),
    ...usages.flatMap((u, i) => (usages.indexOf(u) < i ? [duplicate(`spec.usages[${i}]`, u)] : [])),
    ...validateSignerName(text(spec, 'signerName'), 'spec.signerName'),
    ...(seconds !== undefined && seconds < 600
      ? [
          invalid(
            'spec.expirationSeconds',
            seconds,
            'may not specify a duration less than 600 seconds (10 minutes)',
          ),
        ]
      : []),
    ...conditionErrors(conditionsOf(object)),
    ...certificateErrors(text(statusOf(object), 'certificate')),
  ];
}

function requestErrors(request: string): FieldError[] {
  try {
    parseRequest(decoded(request));
    return [];
  } catch (cause) {
    if (!(cause instanceof InvalidRequest)) throw cause;
    return [invalid('spec.request', request || null, cause.message)];
  }
}

const FINAL = ['Approved', 'Denied', 'Failed'];

function conditionErrors(conditions: JsonObject[]): FieldError[] {
  const types = conditions.map((condition) => text(condition, 'type'));
  return conditions.flatMap((condition, i) => {
    const type = types[i]!;
    const status = text(condition, 'status');
    const path = `status.conditions[${i}]`;
    const supported = FINAL.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    const rival = { Approved: 'Denied', Denied: 'Approved' }[type];
    return [
      ...(type === '' ? [required(`${path}.type`)] : []),
      ...(status === '' ? [required(`${path}.status`)] : []),
      ...(status !== '' && !supported.includes(status)
        ? [notSupported(`${path}.status`, status, supported)]
        : []),
      ...(rival !== undefined && types.slice(0, i).includes(rival)
        ? [invalid('status.conditions', type, 'Approved and Denied conditions are mutually exclusive')]
        : []),
      ...(types.indexOf(type) < i ? [duplicate(`${path}.type`, type)] : []),
    ];
  });
}

const BLOCK = /-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g;

function certificateErrors(certificate: string): FieldError[] {
  if (certificate === '') return [];
  const refuse = (why: string) => [invalid('status.certificate', '<certificate data>', why)];
  const blocks = [...decoded(certificate).matchAll(BLOCK)];
  if (blocks.length === 0) return refuse('must contain at least one CERTIFICATE PEM block');
  for (const [block, type] of blocks) {
    if (type !== 'CERTIFICATE') return refuse(`only CERTIFICATE PEM blocks are allowed, found "${type}"`);
    try {
      new X509Certificate(block);
    } catch {
      return refuse('x509: malformed certificate');
    }
  }
  return [];
}

/** What an endpoint may change beyond metadata. */
interface Rights {
  readonly mayApprove?: boolean;
  readonly mayIssue?: boolean;
}

const validateChange =
  ({ mayApprove = false, mayIssue = false }: Rights) =>
  (next: KubeObject, old: KubeObject): FieldError[] => [
    ...metaOf(next, false, anyName),
    ...validate(next),
    ...FINAL.flatMap((type) => removalErrors(next, old, type)),
    ...(mayApprove ? [] : ['Approved', 'Denied'].flatMap((type) => approvalErrors(next, old, type))),
    ...issueErrors(next, old, mayIssue),
    ...metaUpdate(next, old),
  ];

const ofType = (object: KubeObject, type: string) =>
  conditionsOf(object).filter((condition) => text(condition, 'type') === type);

const removalErrors = (next: KubeObject, old: KubeObject, type: string): FieldError[] =>
  ofType(next, type).length < ofType(old, type).length
    ? [forbidden('status.conditions', `updates may not remove a condition of type "${type}"`)]
    : [];

function approvalErrors(next: KubeObject, old: KubeObject, type: string): FieldError[] {
  const [after, before] = [ofType(next, type), ofType(old, type)];
  if (after.length > before.length)
    return [forbidden('status.conditions', `updates may not add a condition of type "${type}"`)];
  return after.length === before.length && !equal(after, before)
    ? [forbidden('status.conditions', `updates may not modify a condition of type "${type}"`)]
    : [];
}

function issueErrors(next: KubeObject, old: KubeObject, mayIssue: boolean): FieldError[] {
  const [after, before] = [next, old].map((object) => text(statusOf(object), 'certificate'));
  if (after === before) return [];
  if (!mayIssue) return [forbidden('status.certificate', 'updates may not set certificate content')];
  return before === ''
    ? []
    : [forbidden('status.certificate', 'updates may not modify existing certificate content')];
}

/** Adds the missing times of conditions. */
function stampConditions(next: KubeObject, old: KubeObject, { now }: StrategyContext): void {
  const time = formatTime(now);
  for (const condition of conditionsOf(next)) {
    condition['lastUpdateTime'] ??= time;
    const known = conditionsOf(old).find(
      (other) =>
        text(other, 'type') === text(condition, 'type') &&
        text(other, 'status') === text(condition, 'status') &&
        value(other, 'lastTransitionTime'),
    );
    condition['lastTransitionTime'] ??= known?.['lastTransitionTime'] ?? time;
  }
}

/** Approved and Denied keep their old content if none was added or removed. */
function keepApproval(next: KubeObject, old: KubeObject, type: string): void {
  const [after, before] = [ofType(next, type), ofType(old, type)];
  if (after.length !== before.length) return;
  const kept = conditionsOf(next).map((condition) => {
    const at = after.indexOf(condition);
    return at < 0 ? condition : before[at]!;
  });
  if (kept.length > 0) ensure(next, 'status')['conditions'] = kept;
}

/** CertificateApproval and CertificateSigning: the user needs the verb on the signer or on all of its domain. */
function checkSigner(old: KubeObject, verb: 'approve' | 'sign', context: StrategyContext): void {
  const signer = text(specOf(old), 'signerName');
  const isAllowed = (name: string) => context.isAllowed(verb, GROUP, 'signers', name);
  if (isAllowed(signer) || isAllowed(`${signer.split('/')[0]}/*`)) return;
  const why = `user not permitted to ${verb} requests with signerName "${signer}"`;
  throw refused(RESOURCE, old.metadata.name ?? '', why);
}

const approval: UpdateStrategy = {
  prepareForUpdate(next, old, context) {
    stampConditions(next, old, context);
    const conditions = value(statusOf(next), 'conditions');
    copyField(next, old, 'spec');
    next['status'] = { ...statusOf(old) };
    assign(ensure(next, 'status'), 'conditions', conditions);
  },
  validatesMeta: true,
  validateUpdate: validateChange({ mayApprove: true }),
  approve: (_next, old, context) => checkSigner(old!, 'approve', context),
};

const status: UpdateStrategy = {
  prepareForUpdate(next, old, context) {
    copyField(next, old, 'spec');
    for (const type of ['Approved', 'Denied']) keepApproval(next, old, type);
    stampConditions(next, old, context);
  },
  validatesMeta: true,
  validateUpdate: validateChange({ mayIssue: true }),
  approve(next, old, context) {
    const of = (object: KubeObject, field: string) => value(statusOf(object), field);
    if (['certificate', 'conditions'].some((field) => !equal(of(next, field), of(old!, field))))
      checkSigner(old!, 'sign', context);
  },
};

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

export const signingRequestStrategy: Strategy = {
  nameRule: anyName,
  prepareForCreate(object, { user }) {
    const spec = ensure(object, 'spec');
    const groups = [...user.groups];
    assign(spec, 'username', user.username);
    assign(spec, 'uid', user.uid || undefined);
    assign(spec, 'groups', groups.length > 0 ? groups : undefined);
    const extra = Object.entries(user.extra ?? {}).map(([key, values]) => [key, [...values]]);
    assign(spec, 'extra', extra.length > 0 ? Object.fromEntries(extra) : undefined);
    object['status'] = {};
  },
  validate,
  prepareForUpdate(next, old) {
    copyField(next, old, 'spec');
    copyField(next, old, 'status');
  },
  validatesMeta: true,
  validateUpdate: validateChange({}),
  /** CertificateSubjectRestriction. */
  approve(object) {
    const spec = specOf(object);
    if (text(spec, 'signerName') !== CLIENT_SIGNER) return;
    if (!parseRequest(decoded(text(spec, 'request'))).organizations.includes('system:masters')) return;
    const why = `use of ${CLIENT_SIGNER} signer with system:masters group is not allowed`;
    throw refused(RESOURCE, object.metadata.name ?? '', why);
  },
  subresources: { approval, status },
};
