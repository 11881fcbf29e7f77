// General differences between the embedded server and kube-apiserver: deliberate ones, and temporary ones. The first
// parts of differences.md.

export interface Deliberate {
  readonly what: string;
  readonly why: string;
}

export const DELIBERATE: readonly Deliberate[] = [
  {
    what: 'Regular expressions that compile to more than 20,000 instructions, schemas whose patterns compile to more than 40,000, and YAML whose aliases repeat more than 10,000 nodes are refused.',
    why: 'One small object could take all memory of the process; patterns and documents in use are far below.',
  },
  {
    what: 'Answers are never protobuf, but for `/openapi/v2`. Requests may be, for every built-in kind.',
    why: 'Clients that ask for protobuf also accept JSON, except for that document; requests come without an alternative.',
  },
  {
    what: '`/openapi/v3` has no descriptions, so `kubectl explain` shows fields and types without prose.',
    why: 'The texts are most of the size of the documents, and nothing but `explain` reads them.',
  },
  {
    what: 'Only the kinds that controllers and charts meet daily are served: no ReplicationControllers, autoscalers, PriorityClasses, RuntimeClasses, IngressClasses or certificate requests.',
    why: 'Others are answered as a server without them answers, 404, so nobody takes them for served.',
  },
  {
    what: 'Of the default admission plugins those run that a bare record can be judged by: namespaces in termination, priorities, tolerations, taints of new Nodes, default StorageClass, protection and growth of volumes, ValidatingAdmissionPolicies, webhooks. LimitRanges, ResourceQuotas and Pod Security levels are stored and not enforced; Pods get no service account and no token volume.',
    why: 'They govern what kubelets and tenants may use; there are none here.',
  },
  {
    what: 'Clients are known by bearer tokens; there are no client certificates, no OIDC and no webhooks of authentication.',
    why: 'The kubeconfig that the server writes has a token, and service accounts get theirs.',
  },
  {
    what: 'HTTP/1.1 only, and watches only as streams, not over WebSocket.',
    why: 'Every client named here speaks both; HTTP/2 in front of a server on the same machine saves nothing.',
  },
  {
    what: 'Events stay until somebody deletes them; the real server drops them after an hour.',
    why: 'Sessions are short, and what happened in them is what people look for.',
  },
  {
    what: 'Objects may be as large as the bodies that bring them, 3 MiB; etcd takes about half of that.',
    why: "The limit is one of etcd's encoding, in which built-in kinds are smaller than here.",
  },
  {
    what: 'Webhooks are asked in `admission.k8s.io/v1` only, and not about reviews of tokens and access.',
    why: 'Nobody needs `v1beta1` any more; Kubernetes itself stops asking about reviews with 1.37.',
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
    what: 'ValidatingAdmissionPolicies apply from the next request on and are evaluated in the order of their names; the real server reads them once a second, and denies with whichever comes first.',
    why: 'A test need not wait, and gets the same answer every time.',
  },
  {
    what: 'Authors of ValidatingAdmissionPolicies and bindings need no right to read their parameters; the real server requires `get` or `list` on them.',
    why: 'Only cluster administrators write policies here; the check is not there yet.',
  },
  {
    what: 'ValidatingAdmissionPolicies have no `status.typeChecking`; the action Audit and audit annotations are evaluated and not recorded.',
    why: 'A controller of kube-controller-manager checks types, and there is no audit log here. Errors of audit annotations deny as they should.',
  },
  {
    what: 'Times in `namespaceObject` are timestamps to CEL expressions; on the real server they are declared as timestamps and evaluate to texts, so using them is an error.',
    why: 'It is what the declaration promises.',
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
    what: 'Under RBAC the server begins with eleven default roles. What a role aggregates counts at once, and is not written into it; rules it has of its own beside that are shown and do not count.',
    why: "The roles of Kubernetes' own components have nobody to serve here; it is a controller that writes into roles, and what is allowed is the same.",
  },
  {
    what: 'Tokens of service accounts are signed with a secret of the server (HS256), not with a key pair.',
    why: 'Clients treat them as opaque; nobody else verifies them.',
  },
];
