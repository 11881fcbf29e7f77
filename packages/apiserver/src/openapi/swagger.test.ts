import type { JsonObject } from '@lapse/kube/api/json';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CRDS_PATH, crd, object, startServer, type TestServer } from '../crd/testkit.ts';

let api: TestServer;
let swagger: JsonObject;
beforeAll(async () => {
  api = await startServer();
  const spec = object(
    {
      size: { type: 'integer' },
      note: { type: 'string', nullable: true },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      pod: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      },
    },
    { required: ['size', 'note'] },
  );
  await api.post(CRDS_PATH, crd({ spec }));
  await api.settle();
  swagger = (await api.get('/openapi/v2')).body;
});
afterAll(async () => {
  expect(api.unexpected).toEqual([]);
  await api.close();
});

const at = (value: unknown, ...path: string[]): JsonObject =>
  path.reduce((here, name) => (here as JsonObject)[name] as JsonObject, value as JsonObject);
const jobPath = '/apis/batch/v1/namespaces/{namespace}/jobs';

const SCHEMA_TYPE = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';

describe('OpenAPI v2', () => {
  test('has all definitions in one document, without v3 keywords', () => {
    expect(swagger).toMatchObject({ swagger: '2.0', info: { title: 'Kubernetes', version: '1.36' } });
    const text = JSON.stringify(swagger);
    // The type of schemas itself has fields with these names.
    const ofSchemas = at(swagger, 'definitions', SCHEMA_TYPE);
    const others = text.replace(JSON.stringify(ofSchemas), '');
    for (const word of ['components', 'allOf', 'anyOf', 'oneOf', 'nullable', 'requestBody'])
      expect(others).not.toContain(`"${word}"`);
    expect(at(swagger, 'definitions', 'io.k8s.api.batch.v1.Job', 'properties', 'spec')).toEqual({
      $ref: '#/definitions/io.k8s.api.batch.v1.JobSpec',
    });
    for (const [, type] of text.matchAll(/"#\/definitions\/([^"]+)"/g))
      expect(Object.hasOwn(at(swagger, 'definitions'), type!)).toBe(true);
  });

  test('omits types that kubectl cannot validate', () => {
    const spec = at(swagger, 'definitions', 'com.example.toys.v1.Widget', 'properties', 'spec');
    expect(at(spec, 'properties')).toMatchObject({ note: {}, free: {}, pod: {} });
    for (const field of ['note', 'free', 'pod'])
      expect(at(spec, 'properties', field)).not.toHaveProperty('type');
    expect(spec['required']).toEqual(['size']);
  });

  test('has bodies as parameters', () => {
    const put = at(swagger, 'paths', `${jobPath}/{name}`, 'put');
    expect((put['parameters'] as JsonObject[])[0]).toEqual({
      name: 'body',
      in: 'body',
      required: true,
      schema: { $ref: '#/definitions/io.k8s.api.batch.v1.Job' },
    });
  });

  test.each(['.', '@'])('is served as protobuf for Go clients (%s)', async (sign) => {
    const accept = `application/com.github.proto-openapi.spec.v2${sign}v1.0+protobuf`;
    const { status, headers, body } = await api.send('GET', '/openapi/v2', undefined, { accept });
    expect([status, headers['content-type']]).toEqual([
      200,
      'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
    ]);
    // The first field is the version.
    expect(Buffer.from(body as Uint8Array).subarray(0, 5)).toEqual(Buffer.from([0x0a, 3, 0x32, 0x2e, 0x30]));
  });

  test('rejects any other media type', async () => {
    const accept = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';
    expect((await api.send('GET', '/openapi/v2', undefined, { accept })).status).toBe(406);
  });
});
