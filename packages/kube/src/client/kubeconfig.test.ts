import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConnection } from './kubeconfig.ts';
import { parseKubeconfig } from './kubeconfigFile.ts';
import { renderKubeconfig, writeKubeconfig } from './kubeconfigWrite.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lapse-kubeconfig-'));
  for (const name of ['a', 'b', 'explicit'])
    await writeFile(
      join(directory, name),
      renderKubeconfig({ name, server: `https://${name}`, token: name }),
    );
  await mkdir(join(directory, 'home', '.kube'), { recursive: true });
  await writeFile(
    join(directory, 'home', '.kube', 'config'),
    renderKubeconfig({ name: 'home', server: 'https://home' }),
  );
  await mkdir(join(directory, 'pod'));
  await writeFile(join(directory, 'pod', 'token'), 'secret');
  await writeFile(join(directory, 'pod', 'namespace'), 'here\n');
  await mkdir(join(directory, 'barepod'));
  await writeFile(join(directory, 'barepod', 'token'), 'secret');
});
afterAll(() => rm(directory, { recursive: true }));

const at = (name: string) => join(directory, name);
const POD = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };

describe('where the configuration is read from', () => {
  it.each<[string, () => Parameters<typeof loadConnection>[0], string]>([
    [
      'an explicit file takes precedence',
      () => ({
        kubeconfig: at('explicit'),
        environment: { KUBECONFIG: at('a'), HOME: at('home'), ...POD },
        serviceAccountDirectory: at('pod'),
      }),
      'https://explicit',
    ],
    [
      'KUBECONFIG before the service account',
      () => ({
        environment: { KUBECONFIG: at('a'), HOME: at('home'), ...POD },
        serviceAccountDirectory: at('pod'),
      }),
      'https://a',
    ],
    [
      'the first of several files',
      () => ({ environment: { KUBECONFIG: [at('b'), at('a')].join(delimiter) } }),
      'https://b',
    ],
    [
      'missing files and empty names are skipped',
      () => ({ environment: { KUBECONFIG: ['', at('none'), at('a'), at('a')].join(delimiter) } }),
      'https://a',
    ],
    [
      'a context of a later file',
      () => ({ context: 'b', environment: { KUBECONFIG: [at('a'), at('b')].join(delimiter) } }),
      'https://b',
    ],
    [
      'the service account before the home directory',
      () => ({ environment: { HOME: at('home'), ...POD }, serviceAccountDirectory: at('pod') }),
      'https://10.0.0.1:443',
    ],
    [
      'the home directory if the Pod has no token',
      () => ({ environment: { HOME: at('home'), ...POD }, serviceAccountDirectory: at('none') }),
      'https://home',
    ],
    [
      'an empty KUBECONFIG counts as unset',
      () => ({ environment: { KUBECONFIG: '', HOME: at('home') } }),
      'https://home',
    ],
    ['the home directory on Windows', () => ({ environment: { USERPROFILE: at('home') } }), 'https://home'],
  ])('%s', async (_name, options, server) => {
    expect((await loadConnection(options())).server).toBe(server);
  });

  it.each<[string, () => Parameters<typeof loadConnection>[0], string]>([
    [
      'an explicit file that does not exist',
      () => ({ kubeconfig: at('none'), environment: {} }),
      'none: no such file',
    ],
    ['an explicit directory', () => ({ kubeconfig: at('home'), environment: {} }), 'home: cannot be read'],
    [
      'KUBECONFIG without an existing file',
      () => ({ environment: { KUBECONFIG: at('none'), HOME: at('home') } }),
      'KUBECONFIG: no such file',
    ],
    [
      'no configuration at all',
      () => ({ environment: {} }),
      'no cluster is configured: tried --kubeconfig, KUBECONFIG, a Pod’s service account, ~/.kube/config',
    ],
    [
      'a home directory without a file',
      () => ({ environment: { HOME: at('pod') } }),
      'no cluster is configured',
    ],
  ])('rejects %s', async (_name, options, message) => {
    await expect(loadConnection(options())).rejects.toThrow(message);
  });
});

describe('in-cluster configuration', () => {
  it('reads address, token, CA and namespace', async () => {
    const environment = { ...POD, KUBERNETES_SERVICE_HOST: 'fd00::1' };
    expect(await loadConnection({ environment, serviceAccountDirectory: at('pod') })).toEqual({
      description: 'the service account of this Pod',
      server: 'https://[fd00::1]:443',
      namespace: 'here',
      ca: { field: 'service account: ca.crt', path: at('pod/ca.crt') },
      insecure: false,
      auth: { kind: 'tokenFile', path: at('pod/token'), field: 'service account: token' },
    });
  });

  it('the namespace is default without a namespace file', async () => {
    const connection = await loadConnection({ environment: POD, serviceAccountDirectory: at('barepod') });
    expect(connection.namespace).toBe('default');
  });
});

describe('writing a kubeconfig', () => {
  const entry = {
    name: 'lapse',
    server: 'https://127.0.0.1:6443',
    ca: 'CA\n',
    token: '0123',
    cert: 'C',
    key: 'K',
    namespace: 'n',
  };

  it('a written kubeconfig is read back unchanged', async () => {
    const file = at('written');
    await writeKubeconfig(file, entry);
    expect(await loadConnection({ kubeconfig: file, environment: {} })).toMatchObject({
      server: entry.server,
      namespace: 'n',
      ca: { pem: 'CA\n' },
      cert: { pem: 'C' },
      key: { pem: 'K' },
      auth: { kind: 'token', token: '0123' },
    });
  });

  it('is readable by its owner only, also if the file or a leftover draft was readable by all', async () => {
    const file = at('open');
    await writeFile(file, 'old', { mode: 0o644 });
    await writeFile(`${file}.new`, 'half', { mode: 0o666 });
    await chmod(`${file}.new`, 0o666);
    await writeKubeconfig(file, entry);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toBe(renderKubeconfig(entry));
    await expect(stat(`${file}.new`)).rejects.toThrow('ENOENT');
  });

  it('quotes names and tokens that YAML would read as other types', () => {
    for (const text of ['true', '1e3', '- a', 'a: b', '"', '\n', '~', '#x']) {
      const config = parseKubeconfig(
        renderKubeconfig({ name: text, server: 'https://x', token: text }),
        '/f',
      );
      expect([config.currentContext, config.users.get(text)?.fields.text('token')]).toEqual([text, text]);
    }
  });
});
