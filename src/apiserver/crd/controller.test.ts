import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '#api/json';
import { VirtualClock } from '#base/virtualClock';
import { type Journal, type JournalRecord, Store } from '../store/store.ts';
import {
  type Answer,
  DEFINITIONS_PATH,
  definition,
  GROUP,
  startServer,
  type TestServer,
  WIDGETS,
  widget,
} from './testkit.ts';

const WIDGET_DEFINITION = `${DEFINITIONS_PATH}/widgets.${GROUP}`;

let api: TestServer;
beforeEach(async () => {
  api = await startServer();
});
afterEach(async () => {
  expect(api.unexpected).toEqual([]);
  await api.close();
});

const statusOf = ({ body }: Answer) => (body['status'] ?? {}) as JsonObject;
/** `Established=True/InitialNamesAccepted` */
const conditionsOf = (answer: Answer) =>
  ((statusOf(answer)['conditions'] ?? []) as JsonObject[]).map(
    (c) => `${c['type']}=${c['status']}/${c['reason']}`,
  );

const gadget = (names: JsonObject) => ({
  ...definition({ more: { names: { plural: 'gadgets', kind: 'Gadget', ...names } } }),
  metadata: { name: `gadgets.${GROUP}` },
});

describe('a new definition', () => {
  test('is answered without conditions, and established before the next request', async () => {
    const created = await api.post(DEFINITIONS_PATH, definition());
    expect(created.status).toBe(201);
    expect(statusOf(created)).toEqual({
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: ['v1'],
    });
    const read = await api.get(WIDGET_DEFINITION);
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

  test('has no history: a watch from before it is too old', async () => {
    const before = (await api.get('/api/v1/namespaces')).body['metadata'] as JsonObject;
    await api.post(DEFINITIONS_PATH, definition());
    await api.get(WIDGET_DEFINITION);
    const watch = await api.get(`${WIDGETS}?watch=1&resourceVersion=${before['resourceVersion']}`);
    expect(watch.text).toMatch(/"type":"ERROR".*too old resource version/);
  });

  test('may not take the place of a built-in resource', async () => {
    const jobs = {
      ...definition({
        more: { group: 'storage.k8s.io', scope: 'Cluster', names: { plural: 'csinodes', kind: 'CSINode' } },
      }),
      metadata: {
        name: 'csinodes.storage.k8s.io',
        annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' },
      },
    };
    expect((await api.post(DEFINITIONS_PATH, jobs)).status).toBe(201);
    const created = await api.post('/apis/storage.k8s.io/v1/csinodes', {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSINode',
      metadata: { name: 'n' },
      spec: { drivers: [] },
    });
    expect(created.status).toBe(201);
    expect((await api.delete(`${DEFINITIONS_PATH}/csinodes.storage.k8s.io`)).status).toBe(200);
    await api.settle();
    expect((await api.get('/apis/storage.k8s.io/v1/csinodes')).status).toBe(200);
  });

  test('of a community group carries a condition about its approval', async () => {
    const approved = {
      ...definition({ more: { group: 'toys.k8s.io' } }),
      metadata: {
        name: 'widgets.toys.k8s.io',
        annotations: { 'api-approved.kubernetes.io': 'https://example.com/1' },
      },
    };
    await api.post(DEFINITIONS_PATH, approved);
    expect(conditionsOf(await api.get(`${DEFINITIONS_PATH}/widgets.toys.k8s.io`))).toContain(
      'KubernetesAPIApprovalPolicyConformant=True/ApprovedAnnotation',
    );
  });
});

describe('names', () => {
  test('of another definition are refused, and taken over when it goes', async () => {
    await api.post(DEFINITIONS_PATH, definition());
    await api.post(DEFINITIONS_PATH, gadget({ kind: 'Widget', listKind: 'GadgetList', singular: 'gadget' }));
    const refused = await api.get(`${DEFINITIONS_PATH}/gadgets.${GROUP}`);
    expect(conditionsOf(refused)).toEqual([
      'NamesAccepted=False/KindConflict',
      'Established=False/NotAccepted',
    ]);
    expect((await api.get(`/apis/${GROUP}/v1/gadgets`)).status).toBe(404);
    await api.delete(WIDGET_DEFINITION);
    await api.settle();
    const accepted = await api.get(`${DEFINITIONS_PATH}/gadgets.${GROUP}`);
    expect(conditionsOf(accepted)).toEqual([
      'NamesAccepted=True/NoConflicts',
      'Established=True/InitialNamesAccepted',
    ]);
    expect((await api.get(`/apis/${GROUP}/v1/gadgets`)).status).toBe(200);
  });

  test('given up by a change are free for others', async () => {
    await api.post(
      DEFINITIONS_PATH,
      definition({ more: { names: { plural: 'widgets', kind: 'Widget', shortNames: ['x'] } } }),
    );
    await api.post(DEFINITIONS_PATH, gadget({ shortNames: ['x'] }));
    expect(conditionsOf(await api.get(`${DEFINITIONS_PATH}/gadgets.${GROUP}`))[0]).toBe(
      'NamesAccepted=False/ShortNamesConflict',
    );
    await api.patch(WIDGET_DEFINITION, { spec: { names: { shortNames: null } } });
    await api.settle();
    expect(conditionsOf(await api.get(`${DEFINITIONS_PATH}/gadgets.${GROUP}`))[0]).toBe(
      'NamesAccepted=True/NoConflicts',
    );
  });

  test('an established definition is served under its old names while new ones are refused', async () => {
    await api.post(DEFINITIONS_PATH, gadget({}));
    await api.post(
      DEFINITIONS_PATH,
      definition({ more: { names: { plural: 'widgets', kind: 'Widget', shortNames: ['w'] } } }),
    );
    await api.get(WIDGET_DEFINITION);
    await api.patch(WIDGET_DEFINITION, { spec: { names: { shortNames: ['gadget'] } } });
    const read = await api.get(WIDGET_DEFINITION);
    expect(conditionsOf(read)).toEqual([
      'NamesAccepted=False/ShortNamesConflict',
      'Established=True/InitialNamesAccepted',
    ]);
    expect(statusOf(read)['acceptedNames']).toMatchObject({ shortNames: ['w'] });
    expect((await api.get(WIDGETS)).status).toBe(200);
  });
});

describe('a change of the definition', () => {
  test('ends the watches, which would show objects by the old schema', async () => {
    await api.post(DEFINITIONS_PATH, definition());
    await api.get(WIDGET_DEFINITION);
    const response = await api.send('GET', `${WIDGETS}?watch=1`);
    await api.patch(WIDGET_DEFINITION, { spec: { names: { categories: ['all'] } } });
    const events: string[] = [];
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) events.push(String(chunk));
    expect(events).toEqual([]);
  });

  test('of its labels leaves them alone', async () => {
    await api.post(DEFINITIONS_PATH, definition());
    await api.get(WIDGET_DEFINITION);
    const response = await api.send('GET', `${WIDGETS}?watch=1`);
    await api.patch(WIDGET_DEFINITION, { metadata: { labels: { a: 'b' } } });
    await api.post(WIDGETS, widget('w'));
    const events = response.body as AsyncIterable<Uint8Array>;
    expect(String((await events[Symbol.asyncIterator]().next()).value)).toContain('"type":"ADDED"');
  });

  test('that serves a version no longer makes its path unknown', async () => {
    await api.post(DEFINITIONS_PATH, definition());
    await api.get(WIDGET_DEFINITION);
    await api.patch(
      WIDGET_DEFINITION,
      [{ op: 'replace', path: '/spec/versions/0/served', value: false }],
      'json',
    );
    expect(await api.get(WIDGETS)).toMatchObject({ status: 404, text: '404 page not found\n' });
  });
});

describe('the end of a definition', () => {
  beforeEach(async () => {
    await api.post(DEFINITIONS_PATH, definition());
    await api.get(WIDGET_DEFINITION);
  });

  test('takes its objects with it', async () => {
    await api.post(WIDGETS, widget('a'));
    const response = await api.send('GET', `${WIDGETS}?watch=1&resourceVersion=0`);
    const deleted = await api.delete(WIDGET_DEFINITION);
    expect(deleted.body['metadata']).toMatchObject({
      finalizers: ['customresourcecleanup.apiextensions.k8s.io'],
    });
    expect(conditionsOf(deleted)).toContain('Terminating=True/InstanceDeletionPending');
    await api.settle();
    expect((await api.get(WIDGET_DEFINITION)).status).toBe(404);
    expect((await api.get(WIDGETS)).text).toBe('404 page not found\n');
    let seen = '';
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) seen += String(chunk);
    expect(seen.match(/"type":"[A-Z]+"/g)).toEqual(['"type":"ADDED"', '"type":"DELETED"']);
    // What comes back later starts empty.
    await api.post(DEFINITIONS_PATH, definition());
    await api.get(WIDGET_DEFINITION);
    expect((await api.get(WIDGETS)).body['items']).toEqual([]);
  });

  test('waits for objects with finalizers, lets them be edited, and refuses new ones', async () => {
    await api.post(WIDGETS, {
      ...widget('kept'),
      metadata: { name: 'kept', finalizers: ['a.example.com/b'] },
    });
    await api.delete(WIDGET_DEFINITION);
    await api.settle();
    expect(conditionsOf(await api.get(WIDGET_DEFINITION))).toContain(
      'Terminating=True/InstanceDeletionInProgress',
    );
    expect(await api.post(WIDGETS, widget('new'))).toMatchObject({
      status: 403,
      body: {
        message: `widgets.${GROUP} "new" is forbidden: create not allowed while custom resource definition is terminating`,
      },
    });
    const kept = await api.patch(`${WIDGETS}/kept`, { metadata: { labels: { a: 'b' } } });
    expect(kept.body['metadata']).toMatchObject({ generation: 2, deletionGracePeriodSeconds: 0 });
    await api.wait(60);
    expect(conditionsOf(await api.get(WIDGET_DEFINITION))).toContain(
      'Terminating=True/InstanceDeletionCheck',
    );
    await api.patch(`${WIDGETS}/kept`, { metadata: { finalizers: null } });
    await api.settle();
    expect((await api.get(WIDGET_DEFINITION)).status).toBe(404);
  });

  test('waits for its own finalizers, too, but its objects go first', async () => {
    await api.patch(WIDGET_DEFINITION, { metadata: { finalizers: ['a.example.com/b'] } });
    await api.post(WIDGETS, widget('a'));
    await api.delete(WIDGET_DEFINITION);
    await api.settle();
    const waiting = await api.get(WIDGET_DEFINITION);
    expect(waiting.body['metadata']).toMatchObject({ finalizers: ['a.example.com/b'] });
    expect(conditionsOf(waiting)).toContain('Terminating=False/InstanceDeletionCompleted');
    await api.patch(WIDGET_DEFINITION, { metadata: { finalizers: null } });
    expect((await api.get(WIDGET_DEFINITION)).status).toBe(404);
    expect((await api.get(WIDGETS)).status).toBe(404);
  });

  test('can be forced by taking the finalizer away; objects then wait for the next definition', async () => {
    await api.post(WIDGETS, {
      ...widget('kept'),
      metadata: { name: 'kept', finalizers: ['a.example.com/b'] },
    });
    await api.delete(WIDGET_DEFINITION);
    await api.settle();
    await api.patch(WIDGET_DEFINITION, { metadata: { finalizers: null } });
    expect((await api.get(WIDGET_DEFINITION)).status).toBe(404);
    await api.post(DEFINITIONS_PATH, definition());
    await api.get(WIDGET_DEFINITION);
    expect((await api.get(`${WIDGETS}/kept`)).status).toBe(200);
  });

  test('a dry run marks nothing', async () => {
    expect(conditionsOf(await api.delete(`${WIDGET_DEFINITION}?dryRun=All`))).toContain(
      'Terminating=True/InstanceDeletionPending',
    );
    expect((await api.get(WIDGET_DEFINITION)).body['metadata']).not.toHaveProperty('deletionTimestamp');
  });

  test('a wrong uid or version is a conflict in the words of the definition store', async () => {
    expect(await api.ask('DELETE', WIDGET_DEFINITION, { preconditions: { uid: 'x' } })).toMatchObject({
      status: 409,
      body: {
        details: { kind: 'customresourcedefinitions' },
        message: expect.stringContaining('UID in precondition: x'),
      },
    });
  });
});

/** Keeps records in memory, so that a store can be opened again. */
class MemoryJournal implements Journal {
  readonly records = new Map<string, JournalRecord>();
  revision = 0;
  async load() {
    return { revision: this.revision, records: [...this.records.values()] };
  }
  async append(batch: readonly JournalRecord[]) {
    for (const record of batch) {
      this.records.set(`${record.resource}/${record.key}`, record);
      this.revision = record.revision;
    }
  }
  async close() {}
}

describe('a restart', () => {
  const restart = async (journal: MemoryJournal) => {
    await api.close();
    const clock = new VirtualClock();
    api = await startServer({ clock, store: await Store.open(clock, journal) });
  };
  /** Journals commit after the turn. */
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

  test('serves what is stored at once', async () => {
    const journal = new MemoryJournal();
    await restart(journal);
    await api.post(DEFINITIONS_PATH, definition());
    await turn();
    await api.post(WIDGETS, widget('a', { spec: { size: 1 } }));
    await restart(journal);
    expect((await api.get(`${WIDGETS}/a`)).body).toMatchObject({ kind: 'Widget', spec: { size: 1 } });
  });

  test('goes on with a deletion', async () => {
    const journal = new MemoryJournal();
    await restart(journal);
    await api.post(DEFINITIONS_PATH, definition());
    await turn();
    await api.post(WIDGETS, {
      ...widget('kept'),
      metadata: { name: 'kept', finalizers: ['a.example.com/b'] },
    });
    await api.delete(WIDGET_DEFINITION);
    await turn();
    await restart(journal);
    await api.patch(`${WIDGETS}/kept`, { metadata: { finalizers: null } });
    await turn();
    expect((await api.get(WIDGET_DEFINITION)).status).toBe(404);
  });

  test('a creation that raced with the end of its definition leaves nothing behind', async () => {
    const journal = new MemoryJournal();
    await restart(journal);
    await api.post(DEFINITIONS_PATH, definition());
    await turn();
    const race = [
      api.post(WIDGETS, widget('a')),
      api.delete(WIDGET_DEFINITION),
      api.post(WIDGETS, widget('b')),
    ];
    await Promise.all(race);
    for (let i = 0; i < 10; i++) await turn();
    expect((await api.get(WIDGET_DEFINITION)).status).toBe(404);
    expect([...journal.records.values()].filter((r) => r.resource === `widgets.${GROUP}` && r.bytes)).toEqual(
      [],
    );
  });
});
