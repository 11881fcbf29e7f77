// What it takes to reach a cluster, as data: the outcome of reading a kubeconfig or of finding oneself in a Pod.

import type { Impersonation } from './credentials.ts';

/** A PEM text, here or in a file that may be rewritten. `field` names it in complaints. */
export type Material =
  | { readonly field: string; readonly pem: string }
  | { readonly field: string; readonly path: string };

export interface ExecConfig {
  readonly apiVersion: 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1';
  /** A name to look up in PATH, or a path. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint?: string;
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always';
  /** Handed to the plugin when it asks for it. */
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
  /** For people: `context "prod" of /home/me/.kube/config`. */
  readonly description: string;
  readonly server: string;
  /** The namespace to assume where none is named. */
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
