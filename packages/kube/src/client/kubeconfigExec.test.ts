import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveContext } from './kubeconfigContext.ts';
import { parseKubeconfig } from './kubeconfigFile.ts';

const S = 'server: https://api:6443';

/** Reads the only user of /k/config with this exec section. */
const resolve = (exec: string) =>
  resolveContext(
    parseKubeconfig(
      `current-context: x\ncontexts:\n- name: x\n  context: {cluster: c, user: u}\nclusters:\n- name: c\n  cluster: {${S}}\nusers:\n- name: u\n  user: {exec: ${exec}}\n`,
      '/k/config',
    ),
  );

describe('exec', () => {
  const V1 = 'apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never';
  it.each<[string, string, object]>([
    [
      'v1',
      `{${V1}, command: aws, args: [eks, get-token, 5], env: [{name: A, value: b}, {name: E}]}`,
      {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: 'aws',
        args: ['eks', 'get-token', '5'],
        env: { A: 'b', E: '' },
        interactiveMode: 'Never',
        field: '/k/config: user "u": exec',
      },
    ],
    [
      'v1beta1 without a mode',
      '{apiVersion: client.authentication.k8s.io/v1beta1, command: c}',
      { interactiveMode: 'IfAvailable', args: [], env: {} },
    ],
    ['a path relative to the kubeconfig', `{${V1}, command: bin/plugin}`, { command: '/k/bin/plugin' }],
    [
      'a hint with escape sequences removed',
      `{${V1}, command: c, installHint: "\\e[31mrun\\nthis\\a"}`,
      { installHint: '[31mrun\nthis' },
    ],
  ])('%s', async (_name, exec, expected) => {
    expect(await resolve(exec)).toMatchObject({
      auth: { kind: 'exec', exec: expected },
    });
  });

  it.each<[string, string, string]>([
    ['no version', '{command: c}', 'exec.apiVersion: is missing'],
    [
      'an old version',
      '{apiVersion: client.authentication.k8s.io/v1alpha1, command: c}',
      'exec.apiVersion: client.authentication.k8s.io/v1alpha1 is not supported',
    ],
    ['no command', `{${V1}}`, 'exec.command: is missing'],
    [
      'v1 without a mode',
      '{apiVersion: client.authentication.k8s.io/v1, command: c}',
      'exec.interactiveMode: is missing',
    ],
    [
      'an unknown mode',
      '{apiVersion: client.authentication.k8s.io/v1, command: c, interactiveMode: Sometimes}',
      'exec.interactiveMode: "Sometimes" is not supported, must be one of',
    ],
    ['arguments that are a string', `{${V1}, command: c, args: a}`, 'exec.args: must be a list'],
    ['a variable without a name', `{${V1}, command: c, env: [{value: a}]}`, 'exec.env[0].name: is missing'],
    ['a string instead of a map', 'aws', 'exec: must be a map'],
  ])('rejects %s', async (_name, exec, message) => {
    await expect(resolve(exec)).rejects.toThrow(`/k/config: user "u": ${message}`);
  });

  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lapse-exec-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('a plugin that requests the cluster gets it, including its extension with JSON types', async () => {
    const file = join(directory, 'config');
    const text = `current-context: x\ncontexts:\n- name: x\n  context: {cluster: c7, user: u}\nclusters:\n- name: c7\n  cluster:\n    ${S}\n    tls-server-name: n\n    proxy-url: http://p:1\n    certificate-authority-data: ${Buffer.from('PEM').toString('base64')}\n    extensions:\n    - name: other\n      extension: {}\n    - name: client.authentication.k8s.io/exec\n      extension: {audience: 5, on: true, list: [a]}\nusers:\n- name: u\n  user: {exec: {${V1}, command: c, provideClusterInfo: true}}\n`;
    await writeFile(file, text);
    const connection = await resolveContext(parseKubeconfig(text, file));
    expect(connection.auth).toMatchObject({
      exec: {
        cluster: {
          server: 'https://api:6443',
          tlsServerName: 'n',
          insecure: false,
          proxyUrl: 'http://p:1',
          ca: { pem: 'PEM' },
          config: { audience: 5, on: true, list: ['a'] },
        },
      },
    });
  });
});
