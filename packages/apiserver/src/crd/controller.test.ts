import type { JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import {
  api,
  CRDS_PATH,
  conditionsOf,
  crd,
  GROUP,
  statusOf,
  useServer,
  WIDGETS,
  WIDGETS_CRD,
  widget,
} from './testkit.ts';

useServer();

const gadget = (names: JsonObject) => ({
  ...crd({ more: { names: { plural: 'gadgets', kind: 'Gadget', ...names } } }),
  metadata: { name: `gadgets.${GROUP}` },
});

describe('a new CRD', () => {
  test('is returned without conditions and Established before the next request', async () => {
    const created = await api.post(CRDS_PATH, crd());
    expect(created.status).toBe(201);
    expect(statusOf(created)).toEqual({
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: ['v1'],
    });
    const read = await api.get(WIDGETS_CRD);
    expect(conditionsOf(read)).toEqual([
      'NamesAccepted=True/NoConflicts',
      'Established=True/InitialNamesAccepted',
    ]);
    expect(statusOf(read)['acceptedNames']).toEqual({
      plural: 'widgets',
      singular: 'widget',
      kind: 'Widget',
      listKind: 'WidgetList',
    });
    expect((await api.get(WIDGETS)).body).toMatchObject({ kind: 'WidgetList', items: [] });
  });

  test('has no history: a watch from an earlier revision is too old', async () => {
    const before = (await api.get('/api/v1/namespaces')).body['metadata'] as JsonObject;
    await api.post(CRDS_PATH, crd());
    await api.get(WIDGETS_CRD);
    const watch = await api.get(`${WIDGETS}?watch=1&resourceVersion=${before['resourceVersion']}`);
    expect(watch.text).toMatch(/"type":"ERROR".*too old resource version/);
  });

  test('cannot replace a built-in resource', async () => {
    const jobs = {
      ...crd({
        more: { group: 'storage.k8s.io', scope: 'Cluster', names: { plural: 'csinodes', kind: 'CSINode' } },
      }),
      metadata: {
        name: 'csinodes.storage.k8s.io',
        annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' },
      },
    };
    expect((await api.post(CRDS_PATH, jobs)).status).toBe(201);
    const created = await api.post('/apis/storage.k8s.io/v1/csinodes', {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSINode',
      metadata: { name: 'n' },
      spec: { drivers: [] },
    });
    expect(created.status).toBe(201);
    expect((await api.delete(`${CRDS_PATH}/csinodes.storage.k8s.io`)).status).toBe(200);
    await api.settle();
    expect((await api.get('/apis/storage.k8s.io/v1/csinodes')).status).toBe(200);
  });

  test('has an approval condition in a group of the Kubernetes community', async () => {
    const approved = {
      ...crd({ more: { group: 'toys.k8s.io' } }),
      metadata: {
        name: 'widgets.toys.k8s.io',
        annotations: { 'api-approved.kubernetes.io': 'https://example.com/1' },
      },
    };
    await api.post(CRDS_PATH, approved);
    expect(conditionsOf(await api.get(`${CRDS_PATH}/widgets.toys.k8s.io`))).toContain(
      'KubernetesAPIApprovalPolicyConformant=True/ApprovedAnnotation',
    );
  });
});

describe('names', () => {
  test('of another CRD are rejected, and accepted when that CRD is deleted', async () => {
    await api.post(CRDS_PATH, crd());
    await api.post(CRDS_PATH, gadget({ kind: 'Widget', listKind: 'GadgetList', singular: 'gadget' }));
    const refused = await api.get(`${CRDS_PATH}/gadgets.${GROUP}`);
    expect(conditionsOf(refused)).toEqual([
      'NamesAccepted=False/KindConflict',
      'Established=False/NotAccepted',
    ]);
    expect((await api.get(`/apis/${GROUP}/v1/gadgets`)).status).toBe(404);
    await api.delete(WIDGETS_CRD);
    await api.settle();
    const accepted = await api.get(`${CRDS_PATH}/gadgets.${GROUP}`);
    expect(conditionsOf(accepted)).toEqual([
      'NamesAccepted=True/NoConflicts',
      'Established=True/InitialNamesAccepted',
    ]);
    expect((await api.get(`/apis/${GROUP}/v1/gadgets`)).status).toBe(200);
  });

  test('released by an update are free for other CRDs', async () => {
    await api.post(
      CRDS_PATH,
      crd({ more: { names: { plural: 'widgets', kind: 'Widget', shortNames: ['x'] } } }),
    );
    await api.post(CRDS_PATH, gadget({ shortNames: ['x'] }));
    expect(conditionsOf(await api.get(`${CRDS_PATH}/gadgets.${GROUP}`))[0]).toBe(
      'NamesAccepted=False/ShortNamesConflict',
    );
    await api.patch(WIDGETS_CRD, { spec: { names: { shortNames: null } } });
    await api.settle();
    expect(conditionsOf(await api.get(`${CRDS_PATH}/gadgets.${GROUP}`))[0]).toBe(
      'NamesAccepted=True/NoConflicts',
    );
  });

  test('an Established CRD keeps its old names while new ones are rejected', async () => {
    await api.post(CRDS_PATH, gadget({}));
    await api.post(
      CRDS_PATH,
      crd({ more: { names: { plural: 'widgets', kind: 'Widget', shortNames: ['w'] } } }),
    );
    await api.get(WIDGETS_CRD);
    await api.patch(WIDGETS_CRD, { spec: { names: { shortNames: ['gadget'] } } });
    const read = await api.get(WIDGETS_CRD);
    expect(conditionsOf(read)).toEqual([
      'NamesAccepted=False/ShortNamesConflict',
      'Established=True/InitialNamesAccepted',
    ]);
    expect(statusOf(read)['acceptedNames']).toMatchObject({ shortNames: ['w'] });
    expect((await api.get(WIDGETS)).status).toBe(200);
  });
});

describe('an update of a CRD', () => {
  test('ends watches, which would use the old schema', async () => {
    await api.post(CRDS_PATH, crd());
    await api.get(WIDGETS_CRD);
    const response = await api.send('GET', `${WIDGETS}?watch=1`);
    await api.patch(WIDGETS_CRD, { spec: { names: { categories: ['all'] } } });
    const events: string[] = [];
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) events.push(String(chunk));
    expect(events).toEqual([]);
  });

  test('of labels does not end watches', async () => {
    await api.post(CRDS_PATH, crd());
    await api.get(WIDGETS_CRD);
    const response = await api.send('GET', `${WIDGETS}?watch=1`);
    await api.patch(WIDGETS_CRD, { metadata: { labels: { a: 'b' } } });
    await api.post(WIDGETS, widget('w'));
    const events = response.body as AsyncIterable<Uint8Array>;
    expect(String((await events[Symbol.asyncIterator]().next()).value)).toContain('"type":"ADDED"');
  });

  test('that stops serving a version removes its path', async () => {
    await api.post(CRDS_PATH, crd());
    await api.get(WIDGETS_CRD);
    await api.patch(WIDGETS_CRD, [{ op: 'replace', path: '/spec/versions/0/served', value: false }], 'json');
    expect(await api.get(WIDGETS)).toMatchObject({ status: 404, text: '404 page not found\n' });
  });
});
