// Where the embedded server differs from kube-apiserver as a whole: on purpose, and for now. The first parts of
// differences.md.

export interface Deliberate {
  readonly what: string;
  readonly why: string;
}

export const DELIBERATE: readonly Deliberate[] = [
  {
    what: 'Answers are never protobuf, but for `/openapi/v2`. Requests may be, for every built-in kind.',
    why: 'Clients that ask for protobuf also accept JSON, except for that document; requests come without an alternative.',
  },
  {
    what: '`/openapi/v3` has no descriptions, so `kubectl explain` shows fields and types without prose.',
    why: 'The texts are most of the size of the documents, and nothing but `explain` reads them.',
  },
  {
    what: 'No `flowcontrol.apiserver.k8s.io` and no priority levels.',
    why: 'One process, bounded concurrency, no tenants to be fair to.',
  },
  {
    what: 'Custom resources convert between versions with strategy `None` only; no conversion webhooks.',
    why: 'None of the kinds served here changes shape between versions.',
  },
  { what: 'No exec, attach, port-forward, log or proxy.', why: 'There is no kubelet: Pods are records.' },
  {
    what: 'OpenAPI v2 documents of aggregated APIs are not merged, and Services lead to the first of their endpoints.',
    why: 'Nothing here reads the documents, and there is no network of Services.',
  },
  {
    what: 'No `authorizer` variable in CEL.',
    why: 'Only ValidatingAdmissionPolicy uses it, and those are stored, not enforced.',
  },
  {
    what: 'ValidatingAdmissionPolicy and its bindings are stored and not enforced.',
    why: 'Policies are tested on a real server.',
  },
  {
    what: 'A protobuf body for a custom resource is refused with 415.',
    why: 'The real handler crashes on it; 415 is what clients understand.',
  },
  {
    what: 'Without `--authorization-mode=RBAC` whoever has a token may do everything, and reviews of access say so.',
    why: 'It is how a first hour should be; with RBAC the roles and bindings in the store decide, as on the real server.',
  },
  {
    what: 'Under RBAC the server begins with eight default roles, and `admin`, `edit` and `view` are written out instead of aggregated.',
    why: "The roles of Kubernetes' own components have nobody to serve here, and nothing aggregates.",
  },
  {
    what: 'Tokens of service accounts are signed with a secret of the server (HS256), not with a key pair.',
    why: 'Clients treat them as opaque; nobody else verifies them.',
  },
];
