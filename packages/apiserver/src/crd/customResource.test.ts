import type { JsonObject } from '@lapse/kube/api/json';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  api,
  crd,
  define,
  GROUP,
  object,
  type TestResponse,
  useServer,
  version,
  WIDGETS,
  WIDGETS_CRD,
  widget,
} from './testkit.ts';

const text = { type: 'string' };

useServer();

const specOf = ({ body }: TestResponse) => body['spec'];
const metaOf = ({ body }: TestResponse) => body['metadata'] as JsonObject;

describe('storage and conversion', () => {
  const schemaPath = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties';

  test('shows stored objects by the new schema after a schema change', async () => {
    await define(crd({ spec: object({ a: text, gone: text }) }));
    await api.post(WIDGETS, widget('old', { spec: { a: 'x', gone: 'y' } }));
    await api.patch(
      WIDGETS_CRD,
      [
        { op: 'add', path: `${schemaPath}/fresh`, value: { ...text, default: 'new' } },
        { op: 'remove', path: `${schemaPath}/gone` },
      ],
      'json',
    );
    const shown = { a: 'x', fresh: 'new' };
    expect(specOf(await api.get(`${WIDGETS}/old`))).toEqual(shown);
    expect((await api.get(WIDGETS)).body['items']).toMatchObject([{ spec: shown }]);
    const watch = await api.send('GET', `${WIDGETS}?watch=1&resourceVersion=0`);
    const events = (watch.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    const next = async () => JSON.parse(String((await events.next()).value)) as JsonObject;
    expect(await next()).toMatchObject({ type: 'ADDED', object: { spec: shown } });
    // Also checks the last state, which is encoded again for the event.
    await api.delete(`${WIDGETS}/old`);
    const deleted = await next();
    expect(deleted).toMatchObject({ type: 'DELETED', object: { spec: shown } });
    const { metadata: _, ...rest } = deleted['object'] as JsonObject;
    expect(JSON.stringify(rest)).not.toContain('gone');
  });

  test('stores a concurrent write by the new schema', async () => {
    await define(crd({ spec: object({ a: text, gone: text }) }));
    let changed = false;
    api.server.admit({
      name: 'slow.example.com',
      resources: [`widgets.${GROUP}`],
      phase: 'validating',
      async review() {
        if (!changed) {
          changed = true;
          await api.patch(
            WIDGETS_CRD,
            [
              { op: 'add', path: `${schemaPath}/fresh`, value: { ...text, default: 'new' } },
              { op: 'remove', path: `${schemaPath}/gone` },
            ],
            'json',
          );
        }
        return { allowed: true };
      },
    });
    await api.post(WIDGETS, widget('w', { spec: { a: 'x', gone: 'y' } }));
    expect(specOf(await api.get(`${WIDGETS}/w`))).toEqual({ a: 'x', fresh: 'new' });
  });

  test('converts between versions: pruned by both schemas, with defaults of the stored version', async () => {
    const first = object({ spec: object({ both: text, one: { ...text, default: 'd1' } }) });
    const second = object({ spec: object({ both: text, two: { ...text, default: 'd2' } }) });
    await define(crd({ versions: [version('v1', first, { storage: true }), version('v2', second)] }));
    const path = WIDGETS.replace('/v1/', '/v2/');
    const made = await api.post(path, widget('w', { spec: { both: 'b' } }, `${GROUP}/v2`));
    expect(made.body).toMatchObject({ apiVersion: `${GROUP}/v2`, spec: { both: 'b' } });
    expect(specOf(await api.get(`${WIDGETS}/w`))).toEqual({ both: 'b', one: 'd1' });
    expect(specOf(await api.get(`${path}/w`))).toEqual({ both: 'b' });
    const dry = await api.post(`${path}?dryRun=All`, widget('x', { spec: { two: 't' } }, `${GROUP}/v2`));
    expect(specOf(dry)).toEqual({});
  });

  test('a CRD with a conversion webhook is served in its storage version; other versions return an error', async () => {
    const conversion = {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://example.com/convert' } },
    };
    const versions = [
      version('v1', object({}), { storage: true }),
      version('v2', object({ spec: { type: 'object' } })),
    ];
    await define(crd({ versions, more: { conversion } }));
    expect((await api.post(WIDGETS, widget('w'))).status).toBe(201);
    expect(await api.get(WIDGETS.replace('/v1/', '/v2/'))).toMatchObject({
      status: 500,
      body: {
        message: `conversion webhook for ${GROUP}/v1, Kind=Widget failed: this server does not call conversion webhooks`,
      },
    });
  });

  test('returns keys in alphabetical order', async () => {
    await define(crd({ spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }));
    const sent = `{"spec":{"b":{"z":1,"a":2},"a":1},"metadata":{"name":"w","labels":{"b":"1","a":"2"}},"kind":"Widget","apiVersion":"${GROUP}/v1"}`;
    await api.post(WIDGETS, sent);
    const { text: shown } = await api.get(`${WIDGETS}/w`);
    expect(shown.replace(/"(creationTimestamp|uid|resourceVersion|time)":"[^"]*"/g, '"$1"')).toBe(
      `{"apiVersion":"${GROUP}/v1","kind":"Widget","metadata":{"creationTimestamp","generation":1,"labels":{"a":"2","b":"1"},"managedFields":[{"apiVersion":"${GROUP}/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:a":{},"f:b":{}}},"f:spec":{".":{},"f:a":{},"f:b":{".":{},"f:a":{},"f:z":{}}}},"manager":"unknown","operation":"Update","time"}],"name":"w","namespace":"default","resourceVersion","uid"},"spec":{"a":1,"b":{"a":2,"z":1}}}`,
    );
  });

  test('keeps integers above 2^53', async () => {
    await define(crd({ spec: object({ n: { type: 'integer' } }) }));
    await api.post(
      WIDGETS,
      `{"apiVersion":"${GROUP}/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"n":9007199254740993}}`,
    );
    expect((await api.get(`${WIDGETS}/w`)).text).toContain('"n":9007199254740993');
    expect((await api.get(WIDGETS)).text).toContain('"n":9007199254740993');
  });
});

describe('generation and status', () => {
  const withStatus = (subresources: JsonObject | undefined) =>
    crd({
      versions: [
        version(
          'v1',
          object({ spec: object({ n: { type: 'integer' } }), status: object({ ok: { type: 'boolean' } }) }),
          {
            storage: true,
            ...(subresources ? { subresources } : {}),
          },
        ),
      ],
    });

  test.each<[string, JsonObject | undefined, string, JsonObject, number, JsonObject]>([
    [
      'a change of the spec increases the generation',
      { status: {} },
      '',
      { spec: { n: 2 } },
      2,
      { spec: { n: 2 } },
    ],
    [
      'a change of labels does not increase the generation',
      { status: {} },
      '',
      { metadata: { labels: { a: 'b' } } },
      1,
      { spec: { n: 1 } },
    ],
    [
      'the main endpoint ignores the status',
      { status: {} },
      '',
      { status: { ok: true } },
      1,
      { spec: { n: 1 } },
    ],
    [
      'the status endpoint ignores all other fields',
      { status: {} },
      '/status',
      { spec: { n: 3 }, metadata: { labels: { a: 'b' } }, status: { ok: true } },
      1,
      { spec: { n: 1 }, status: { ok: true } },
    ],
    [
      'without the subresource, a change of the status increases the generation',
      undefined,
      '',
      { status: { ok: true } },
      2,
      { spec: { n: 1 }, status: { ok: true } },
    ],
  ])('%s', async (_, subresources, endpoint, patch, generation, shown) => {
    await define(withStatus(subresources));
    await api.post(WIDGETS, widget('w', { spec: { n: 1 } }));
    const response = await api.patch(`${WIDGETS}/w${endpoint}`, patch);
    expect(metaOf(response)['generation']).toBe(generation);
    const { apiVersion: _a, kind: _k, metadata: _m, ...rest } = response.body;
    expect(rest).toEqual(shown);
  });

  test('/status does not change labels', async () => {
    await define(withStatus({ status: {} }));
    await api.post(WIDGETS, widget('w'));
    const response = await api.patch(`${WIDGETS}/w/status`, {
      metadata: { labels: { a: 'b' } },
      status: { ok: true },
    });
    expect(metaOf(response)).not.toHaveProperty('labels');
  });

  test('/status rejects an invalid status', async () => {
    await define(withStatus({ status: {} }));
    await api.post(WIDGETS, widget('w'));
    expect(await api.patch(`${WIDGETS}/w/status`, { status: { ok: 'yes' } })).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'status.ok' }] } },
    });
  });
});

describe('field selectors of a CRD', () => {
  beforeEach(async () => {
    const spec = object({
      color: { ...text, default: 'red' },
      n: { type: 'integer' },
      b: { type: 'boolean' },
    });
    const selectableFields = ['.spec.color', '.spec.n', '.spec.b'].map((jsonPath) => ({ jsonPath }));
    await define(crd({ spec, v1: { selectableFields } }));
    await api.post(WIDGETS, widget('a', { spec: { n: 1, b: true } }));
    await api.post(WIDGETS, widget('b', { spec: { color: 'blue', n: 2 } }));
    await api.post(WIDGETS, widget('c', { spec: { color: 'red' } }));
    await api.post(WIDGETS, widget('d'));
  });

  test.each([
    ['spec.color=red', ['a', 'c']],
    ['spec.color!=red', ['b', 'd']],
    ['spec.n=2', ['b']],
    ['spec.b=true', ['a']],
    ['spec.n=', ['c', 'd']],
    ['spec.color=red,metadata.name=c', ['c']],
  ])('%s selects %j', async (selector, names) => {
    const { body } = await api.get(`${WIDGETS}?fieldSelector=${encodeURIComponent(selector)}`);
    expect((body['items'] as JsonObject[]).map((i) => (i['metadata'] as JsonObject)['name'])).toEqual(names);
  });

  test('match values from defaults that were added later', async () => {
    const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/n/default';
    await api.patch(WIDGETS_CRD, [{ op: 'add', path, value: 7 }], 'json');
    const { body } = await api.get(`${WIDGETS}?fieldSelector=spec.n%3D7`);
    expect(body['items']).toMatchObject([{ metadata: { name: 'c' } }]);
  });

  test('other field selectors are rejected', async () => {
    expect(await api.get(`${WIDGETS}?fieldSelector=spec.other=1`)).toMatchObject({
      status: 400,
      body: { message: 'field label not supported: spec.other' },
    });
  });
});
