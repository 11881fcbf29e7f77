// Command lines of the bed's processes. The API server is configured as the one whose answers are recorded in the
// conformance cases: RBAC, a token file, the default admission plugins except ServiceAccount.

import type { CertificateFiles } from './certificates.ts';

export interface Ports {
  etcdClient: number;
  etcdPeer: number;
  apiserver: number;
}

const local = (port: number) => `http://127.0.0.1:${port}`;

export function etcdArguments(ports: Ports, dataDirectory: string): string[] {
  return [
    `--data-dir=${dataDirectory}`,
    `--listen-client-urls=${local(ports.etcdClient)}`,
    `--advertise-client-urls=${local(ports.etcdClient)}`,
    `--listen-peer-urls=${local(ports.etcdPeer)}`,
    `--initial-advertise-peer-urls=${local(ports.etcdPeer)}`,
    `--initial-cluster=default=${local(ports.etcdPeer)}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

export function apiserverArguments(ports: Ports, tokenFile: string, files: CertificateFiles): string[] {
  return [
    `--etcd-servers=${local(ports.etcdClient)}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.apiserver}`,
    // The endpoints of the `kubernetes` Service may not be loopback; nothing connects to this documentation address.
    '--advertise-address=192.0.2.1',
    '--service-cluster-ip-range=10.0.0.0/24',
    `--tls-cert-file=${files.serverCertificate}`,
    `--tls-private-key-file=${files.serverKey}`,
    `--token-auth-file=${tokenFile}`,
    '--authorization-mode=RBAC',
    '--disable-admission-plugins=ServiceAccount',
    '--allow-privileged=true',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${files.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    `--requestheader-client-ca-file=${files.frontProxyCa}`,
    '--requestheader-allowed-names=front-proxy',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${files.frontProxyCertificate}`,
    `--proxy-client-key-file=${files.frontProxyKey}`,
  ];
}

export function controllerManagerArguments(
  controllers: string[],
  kubeconfig: string,
  files: CertificateFiles,
): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${controllers.join(',')}`,
    '--leader-elect=false',
    '--secure-port=0',
    `--root-ca-file=${files.ca}`,
    `--service-account-private-key-file=${files.serviceAccountKey}`,
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
  ];
}
