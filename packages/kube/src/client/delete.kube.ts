// Tests DELETE against a real kube-apiserver: preconditions, objects that become terminating, and the causes of a 409.

import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { defineKind } from '#api/kind';
import { selfSigned } from './certificate.testkit.ts';
import { objectOf } from './client.ts';
import { ConfigMap, changed, configMap, Namespace, Pod, realCluster, Webhooks } from './kube.testkit.ts';

const cluster = realCluster();

describe('delete', () => {
  test('respects uid and resourceVersion preconditions', async () => {
    const { key, uid, old } = await changed(cluster.client);
    expect(await cluster.client.delete(ConfigMap, key, { ifUid: uid, ifVersion: old })).toMatchObject({
      kind: 'conflict',
      by: 'changed',
    });
    expect(await cluster.client.delete(ConfigMap, key, { ifUid: crypto.randomUUID() })).toMatchObject({
      kind: 'conflict',
      by: 'changed',
    });
    const { resourceVersion } = (await cluster.client.get(ConfigMap, key))!.metadata;
    expect(
      await cluster.client.delete(ConfigMap, key, { ifUid: uid, ifVersion: resourceVersion!, dryRun: true }),
    ).toEqual({ kind: 'deleted', uid });
    expect(await cluster.client.delete(ConfigMap, key, { ifUid: uid, ifVersion: resourceVersion! })).toEqual({
      kind: 'deleted',
      uid,
    });
    expect(await cluster.client.delete(ConfigMap, key, { ifUid: uid })).toEqual({ kind: 'gone' });
  });

  test('reports finalizers, foreground deletion, namespaces and Pods', async () => {
    const held = objectOf(
      await cluster.client.create(ConfigMap, configMap({ finalizers: ['example.com/f'] })),
    );
    const key = { namespace: 'default', name: held.metadata.name! };
    expect(await cluster.client.delete(ConfigMap, key)).toMatchObject({
      kind: 'terminating',
      uid: held.metadata.uid,
    });
    const plain = objectOf(await cluster.client.create(ConfigMap, configMap()));
    const plainKey = { namespace: 'default', name: plain.metadata.name! };
    expect(await cluster.client.delete(ConfigMap, plainKey, { propagation: 'Foreground' })).toMatchObject({
      kind: 'terminating',
    });
    await cluster.client.create(Namespace, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'short' },
    });
    expect(await cluster.client.delete(Namespace, { name: 'short' })).toMatchObject({ kind: 'terminating' });
    expect(
      await cluster.client.delete(Namespace, { name: 'short' }, { ifUid: crypto.randomUUID() }),
    ).toMatchObject({
      kind: 'conflict',
      by: 'changed',
    });
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'default' } };
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await cluster.client.create(Pod, { ...pod, spec });
    expect(await cluster.client.delete(Pod, { namespace: 'default', name: 'p' })).toMatchObject({
      kind: 'deleted',
    });
    await cluster.client.create(Pod, { ...pod, spec: { ...spec, nodeName: 'n' } });
    expect(await cluster.client.delete(Pod, { namespace: 'default', name: 'p' })).toMatchObject({
      kind: 'terminating',
    });
  });

  test('an unserved kind is an error, not `gone`', async () => {
    const Nothing = defineKind({
      group: 'example.com',
      version: 'v1',
      kind: 'Nothing',
      resource: 'nothings',
      namespaced: true,
    });
    const Unknown = { ...ConfigMap, kind: 'Unknown', resource: 'unknowns' };
    for (const kind of [Nothing, Unknown]) {
      await expect(cluster.client.delete(kind, { namespace: 'default', name: 'x' })).rejects.toMatchObject({
        code: 404,
      });
      await expect(cluster.client.get(kind, { namespace: 'default', name: 'x' })).rejects.toMatchObject({
        code: 404,
      });
    }
  });

  test('a 409 Conflict from a webhook is distinguished from a changed object', async () => {
    const certificate = selfSigned('webhook', ['127.0.0.1']);
    const webhook = createServer(certificate, async (request, response) => {
      let text = '';
      for await (const part of request) text += String(part);
      const { uid } = (JSON.parse(text) as { request: { uid: string } }).request;
      const status = {
        code: 409,
        reason: 'Conflict',
        message: 'not now',
        details: { name: 'guarded', kind: 'configmaps' },
      };
      const answer = {
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: { uid, allowed: false, status },
      };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    });
    await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
    const url = `https://127.0.0.1:${(webhook.address() as AddressInfo).port}/`;
    await cluster.client.create(Webhooks, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'guard' },
      webhooks: [
        {
          name: 'guard.example.com',
          clientConfig: { url, caBundle: Buffer.from(certificate.cert).toString('base64') },
          rules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['configmaps'] },
          ],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    });
    try {
      const key = { namespace: 'default', name: 'guarded' };
      await cluster.client.create(ConfigMap, configMap({ name: key.name }));
      // The API server learns about the webhook configuration through a watch, with a short delay.
      let answer = await cluster.client.delete(ConfigMap, key);
      for (let i = 0; i < 100 && answer.kind !== 'conflict'; i++) {
        await cluster.client.create(ConfigMap, configMap({ name: key.name }));
        answer = await cluster.client.delete(ConfigMap, key);
      }
      expect(answer).toMatchObject({ kind: 'conflict', by: 'admission' });
    } finally {
      await cluster.client.delete(Webhooks, { name: 'guard' });
      webhook.close();
    }
  });
});
