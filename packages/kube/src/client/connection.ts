// Everything needed to reach a cluster, as data. Read from a kubeconfig or from the service account of a Pod.

import type { Impersonation } from './credentials.ts';

/** A PEM text, inline or in a file that may be rewritten. `field` names it in errors. */
export type Material =
  | { readonly field: string; readonly pem: string }
  | { readonly field: string; readonly path: string };

export interface ExecConfig {
  readonly apiVersion: 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1';
  /** A path, or a name that is looked up in PATH. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint?: string;
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always';
  /** Passed to the plugin if it requests it. */
  readonly cluster?: ExecCluster;
  readonly field: string;
}

export interface ExecCluster {
  readonly server: string;
  readonly tlsServerName?: string;
  readonly insecure: boolean;
  readonly ca?: Material;
  readonly proxyUrl?: string;
  readonly config?: unknown;
}

export type AuthMethod =
  | { readonly kind: 'none' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'tokenFile'; readonly path: string; readonly fallback?: string; readonly field: string }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  | { readonly kind: 'exec'; readonly exec: ExecConfig };

export interface Connection {
  /** For messages: `context "prod" of /home/me/.kube/config`. */
  readonly description: string;
  readonly server: string;
  /** The default namespace. */
  readonly namespace: string;
  readonly ca?: Material;
  readonly cert?: Material;
  readonly key?: Material;
  readonly servername?: string;
  readonly insecure: boolean;
  readonly proxyUrl?: string;
  readonly auth: AuthMethod;
  readonly impersonate?: Impersonation;
}
