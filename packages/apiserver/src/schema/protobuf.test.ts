import type { JsonObject } from '@lapse/kube/api/json';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { builtins, typeOf } from './builtinFixture.ts';
import { DecodeError } from './decodeError.ts';
import { decodeEnvelope, decodeMessage, EnvelopeError } from './protobuf.ts';

const decode = (base64: string): JsonObject => {
  const { apiVersion, kind, raw } = decodeEnvelope(Buffer.from(base64, 'base64'));
  return { apiVersion, kind, ...decodeMessage(builtins, typeOf(`${apiVersion}/${kind}`), raw) };
};

// Written by the Go serializer (the first two by kubectl).
const ACCESS_REVIEW =
  'azhzAAoyChdhdXRob3JpemF0aW9uLms4cy5pby92MRIXU2VsZlN1YmplY3RBY2Nlc3NSZXZpZXcSOAoQCgASABoAIgAqADIAOABCABIaChgKABIGY3JlYXRlGgAiACoEcG9kczIAOgAaCAgAEgAaACAAGgAiAA==';
const WHOAMI =
  'azhzAAotChhhdXRoZW50aWNhdGlvbi5rOHMuaW8vdjESEVNlbGZTdWJqZWN0UmV2aWV3EhoKEAoAEgAaACIAKgAyADgAQgASBgoECgASABoAIgA=';
const JOB =
  'azhzAAoPCghiYXRjaC92MRIDSm9iEvMBCiMKAWoSABoAIgAqADIAOABCCAil+s2sBhAAWggKA2FwcBIBeBLBAQgCEAAyuAEKEAoAEgAaACIAKgAyADgAQgASowEKCQoBdhIEEgIKABJoCgFtEgFpKgAyCgoAEAAYUCIAKgBCIAoNCgNjcHUSBgoENTAwbQoPCgZtZW1vcnkSBQoDMUdpUiAKFBISCgASCggBEAAaBGh0dHAaACIAEAAYACAFKAAwAGoAcgCAAQCIAQCQAQCiAQAaBU5ldmVyMgBCAEoAUgBYAGAAaAByCyABIICAgICAgIAQggEAigEAmgEAwgEAQDwaCCAAKAAwADoAGgAiAA==';
const CONFIG_MAP =
  'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEiwKEQoBYxIAGgAiACoAMgA4AEIAEgYKAWESATESBQoBYhIAGggKAXoSAwABAhoAIgA=';
const LEASE =
  'azhzAAofChZjb29yZGluYXRpb24uazhzLmlvL3YxEgVMZWFzZRIoChEKAWwSABoAIgAqADIAOABCABITCgJtZRAPIgsIpfrNrAYQgJTvOhoAIgA=';
const SUBJECT_REVIEW =
  'azhzAAouChdhdXRob3JpemF0aW9uLms4cy5pby92MRITU3ViamVjdEFjY2Vzc1JldmlldxI1ChAKABIAGgAiACoAMgA4AEIAEhcaAXUqEAoGc2NvcGVzEgYKAWEKAWIyABoICAASABoAIAAaACIA';
const DEFINITION =
  'azhzAAozChdhcGlleHRlbnNpb25zLms4cy5pby92MRIYQ3VzdG9tUmVzb3VyY2VEZWZpbml0aW9uEsYBChEKAXcSABoAIgAqADIAOABCABKiAQoBZxoLCgJ3cxIAIgFXKgAiB0NsdXN0ZXI6hAEKAnYxEAEYASJ4CnYKABIAIgAqBm9iamVjdDIAOgBCCwoJeyJhIjpbMV19SQAAAAAAAPg/UABgAHoAkAEAogEFCgMieCKiAQMKATLCASYKJAoAEgAiACoGc3RyaW5nMgA6AFAAYAB6AJABAKgCALgCAMACAPIBAggAqAIAuAIAwAIAOABQABoMEggKABIAIgAqACAAGgAiAA==';

describe('bodies of Go clients', () => {
  test.each<[string, string, JsonObject]>([
    [
      'SelfSubjectAccessReview',
      ACCESS_REVIEW,
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        metadata: {},
        spec: { resourceAttributes: { verb: 'create', resource: 'pods' } },
        status: { allowed: false },
      },
    ],
    [
      'SelfSubjectReview',
      WHOAMI,
      {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'SelfSubjectReview',
        metadata: {},
        status: { userInfo: {} },
      },
    ],
    [
      'ConfigMap with text and bytes',
      CONFIG_MAP,
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'c' },
        data: { a: '1', b: '' },
        binaryData: { z: 'AAEC' },
      },
    ],
    [
      'Lease with micro times',
      LEASE,
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'l' },
        spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2024-01-02T03:04:05.123456Z' },
      },
    ],
    [
      'a map of lists',
      SUBJECT_REVIEW,
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        metadata: {},
        spec: { user: 'u', extra: { scopes: ['a', 'b'] } },
        status: { allowed: false },
      },
    ],
  ])('%s', (_, base64, object) => {
    expect(decode(base64)).toEqual(object);
  });

  test('decodes a Job: times, quantities, ports by name, embedded volumes, explicit zeros', () => {
    expect(decode(JOB)).toEqual({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j', creationTimestamp: '2024-01-02T03:04:05Z', labels: { app: 'x' } },
      spec: {
        parallelism: 2,
        completions: 0,
        ttlSecondsAfterFinished: 60,
        template: {
          metadata: {},
          spec: {
            volumes: [{ name: 'v', emptyDir: {} }],
            containers: [
              {
                name: 'm',
                image: 'i',
                ports: [{ containerPort: 80 }],
                resources: { limits: { cpu: '500m', memory: '1Gi' } },
                livenessProbe: { httpGet: { port: 'http' }, periodSeconds: 5 },
              },
            ],
            restartPolicy: 'Never',
            securityContext: { supplementalGroups: [1, 9007199254740992n] },
          },
        },
      },
      status: {},
    });
  });

  test('decodes a CRD: schemas, raw JSON, floats', () => {
    expect(decode(DEFINITION)).toMatchObject({
      spec: {
        versions: [
          {
            schema: {
              openAPIV3Schema: {
                type: 'object',
                default: { a: [1] },
                maximum: 1.5,
                enum: ['x', 2],
                items: { type: 'string' },
                additionalProperties: false,
              },
            },
          },
        ],
      },
    });
  });
});

describe('hand-made messages', () => {
  const podSpec = (...bytes: number[]) =>
    decodeMessage(builtins, 'io.k8s.api.core.v1.PodSecurityContext', Buffer.from(bytes));
  test('decodes packed and single integers', () => {
    expect(podSpec(0x20, 1, 0x20, 2)).toEqual({ supplementalGroups: [1, 2] });
    expect(podSpec(0x22, 2, 1, 2)).toEqual({ supplementalGroups: [1, 2] });
  });
  test('decodes negative integers', () => {
    expect(podSpec(0x10, ...Array(9).fill(0xff), 1)).toEqual({ runAsUser: -1 });
  });
  test('skips unknown fields of any wire type, including groups', () => {
    const unknown = [
      0xfa, 0x06, 2, 9, 9, 0xfb, 0x06, 0x08, 1, 0xfc, 0x06, 0xf9, 0x06, 1, 2, 3, 4, 5, 6, 7, 8,
    ];
    expect(podSpec(...unknown, 0x10, 5)).toEqual({ runAsUser: 5 });
  });
});

describe('hostile bytes', () => {
  const envelope = (bytes: number[]) => () => decodeEnvelope(Buffer.from(bytes));
  const k8s = [0x6b, 0x38, 0x73, 0];
  test.each<[number[], string]>([
    [[], 'empty data'],
    [
      [...Buffer.from('nonsense')],
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    ],
    [k8s, 'empty body'],
    [[...k8s, 0x0a], 'unexpected EOF'],
    [[...k8s, 0x12, 0xff, 0xff, 0xff, 0xff, 0x0f], 'unexpected EOF'],
    [[...k8s, 0x12, ...Array(9).fill(0xff), 1], 'proto: negative length found during unmarshaling'],
    [[...k8s, ...Array(10).fill(0xff), 1], 'proto: integer overflow'],
    [[...k8s, 0x10, 1], 'proto: wrong wireType = 0 for field Raw'],
    [[...k8s, 0x02, 0], 'proto: Unknown: illegal tag 0 (wire type 2)'],
    [[...k8s, 0x0c], 'proto: Unknown: wiretype end group for non-group'],
    [[...k8s, 0x2e, 0], 'proto: illegal wireType 6'],
    [[...k8s, 0x2b, 0x33], 'unexpected EOF'],
  ])('%j', (bytes, message) => {
    expect(envelope(bytes)).toThrow(new EnvelopeError(message));
  });

  test('rejects invalid values with the error of their type', () => {
    const limits = Buffer.from([0x0a, 9, 0x0a, 1, 0x61, 0x12, 4, 0x0a, 2, 0x31, 0x78]);
    expect(() => decodeMessage(builtins, 'io.k8s.api.core.v1.ResourceRequirements', limits)).toThrow(
      /quantities must match the regular expression/,
    );
  });

  test('rejects schemas that are nested too deeply', () => {
    let message = Buffer.alloc(0);
    // JSONSchemaProps.not (28), nested in itself.
    for (let i = 0; i < 3000; i++)
      message = Buffer.concat([Buffer.from([0xe2, 1]), varint(message.length), message]);
    const type = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';
    expect(() => decodeMessage(builtins, type, message)).toThrow(DecodeError);
  });

  test('throws only DecodeError for random damage', () => {
    const bodies = [JOB, CONFIG_MAP, LEASE, DEFINITION].map((b) => Buffer.from(b, 'base64'));
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 5 });
    fc.assert(
      fc.property(fc.constantFrom(...bodies), damage, fc.nat(), (body, changes, cut) => {
        const bytes = Buffer.from(body);
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
        try {
          const { raw } = decodeEnvelope(bytes.subarray(0, bytes.length - (cut % 20)));
          for (const kind of ['batch/v1/Job', 'v1/Pod']) decodeMessage(builtins, typeOf(kind), raw);
        } catch (error) {
          expect(error).toBeInstanceOf(DecodeError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

function varint(n: number): Buffer {
  const bytes: number[] = [];
  for (; n > 127; n >>>= 7) bytes.push((n & 127) | 128);
  return Buffer.from([...bytes, n]);
}
