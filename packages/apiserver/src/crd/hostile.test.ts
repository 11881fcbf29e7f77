import type { JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { api, crd, define, GROUP, object, useServer, WIDGETS, widget } from './testkit.ts';

useServer();

describe('hostile objects', () => {
  test('prunes unknown prototype names and keeps declared ones', async () => {
    await define(
      crd({
        spec: object({
          open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          closed: object(),
        }),
      }),
    );
    const evil = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const sent = `{"apiVersion":"${GROUP}/v1","kind":"Widget","metadata":{"name":"w","labels":{"__proto__":"x"}},"spec":{"open":${evil},"closed":${evil}}}`;
    expect(await api.post(WIDGETS, sent)).toMatchObject({ status: 422 });
    const made = await api.post(WIDGETS, sent.replace('"__proto__":"x"', '"constructor":"x"'));
    expect(made.status).toBe(201);
    expect(made.text).toContain(`"open":${evil}`);
    expect(made.text).toContain('"closed":{}');
    expect(({} as JsonObject)['polluted']).toBeUndefined();
    expect((await api.get(`${WIDGETS}/w`)).text).toContain(`"open":${evil}`);
  });

  test('accepts an object of the maximum depth and rejects a deeper one', async () => {
    await define(crd({ spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }));
    const nested = (depth: number) =>
      `{"apiVersion":"${GROUP}/v1","kind":"Widget","metadata":{"name":"w"},"spec":${'{"a":'.repeat(depth)}{}${'}'.repeat(depth)}}`;
    expect((await api.post(WIDGETS, nested(900))).status).toBe(201);
    expect((await api.get(WIDGETS)).status).toBe(200);
    expect((await api.post(WIDGETS, nested(5000))).status).toBe(400);
  });

  test('evaluates patterns with catastrophic backtracking in linear time', async () => {
    await define(crd({ spec: object({ a: { type: 'string', pattern: '^(a+)+$' } }) }));
    expect((await api.post(WIDGETS, widget('w', { spec: { a: `${'a'.repeat(50_000)}!` } }))).status).toBe(
      422,
    );
  });

  test('prunes and validates a large object in reasonable time', async () => {
    await define(
      crd({ spec: object({ list: { type: 'array', items: object({ a: { type: 'integer' } }) } }) }),
    );
    const list = Array.from({ length: 50_000 }, (_, i) => ({ a: i, extra: 'x' }));
    expect(
      (await api.post(`${WIDGETS}?fieldValidation=Ignore`, widget('w', { spec: { list } }))).status,
    ).toBe(201);
  });
});
