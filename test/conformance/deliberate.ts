// Deliberate differences between the embedded server and kube-apiserver: the first part of differences.md.

export interface Deliberate {
  readonly what: string;
  readonly why: string;
}

export const DELIBERATE: readonly Deliberate[] = [
  {
    what: 'The server rejects regular expressions that compile to more than 20,000 instructions, schemas whose patterns compile to more than 40,000, and YAML whose aliases repeat more than 10,000 nodes.',
    why: 'Otherwise one small object could use all memory of the process. Real patterns and documents are far below these limits.',
  },
  {
    what: 'Responses are never protobuf, except `/openapi/v2`. Request bodies of built-in kinds may be protobuf.',
    why: 'Clients that request protobuf also accept JSON, except for that document.',
  },
  {
    what: '`/openapi/v3` has no descriptions, so `kubectl explain` shows fields and types without text.',
    why: 'The descriptions are most of the size of the documents, and only `kubectl explain` reads them.',
  },
  {
    what: 'Built-in kinds are served in their stable versions. MutatingAdmissionPolicies are not served. ComponentStatuses are an empty list.',
    why: 'Requests for other kinds get 404, as on a server without these APIs. There are no components of a control plane whose status the server could report.',
  },
  {
    what: 'Only some default admission plugins run: NamespaceLifecycle, Priority, RuntimeClass, default tolerations, taints of new Nodes, default StorageClass and IngressClass, protection and expansion of volumes, checks of certificate requests, ValidatingAdmissionPolicies and webhooks. LimitRanges, ResourceQuotas and Pod Security levels are stored and not enforced. Pods get no service account and no token volume.',
    why: 'The other plugins limit what kubelets and tenants may use. The server has neither.',
  },
  {
    what: 'Clients authenticate with bearer tokens. There are no client certificates, no OIDC and no authentication webhooks.',
    why: 'The kubeconfig that the server writes contains a token, and service accounts can request tokens.',
  },
  {
    what: 'The server speaks only HTTP/1.1. Watches are streams, not WebSockets.',
    why: 'All supported clients support both. HTTP/2 has no advantage on the same machine.',
  },
  {
    what: 'Events are kept until a client deletes them; kube-apiserver deletes them after an hour.',
    why: 'Sessions are short, and users read the Events of the session.',
  },
  {
    what: 'An object may be as large as a request body, 3 MiB; etcd accepts about half of that.',
    why: 'The limit of etcd applies to its own encoding, in which built-in kinds are smaller.',
  },
  {
    what: 'Webhooks get `admission.k8s.io/v1` only, and no token and access reviews.',
    why: '`v1beta1` is obsolete, and Kubernetes 1.37 no longer sends reviews to webhooks.',
  },
  {
    what: 'FlowSchemas and PriorityLevelConfigurations are stored and have no effect. Responses do not name them, and no conditions are added to their status.',
    why: 'The server is one process with bounded concurrency and without tenants.',
  },
  {
    what: 'Custom resources are converted between versions only with strategy `None`; there are no conversion webhooks.',
    why: 'None of the served kinds changes its structure between versions.',
  },
  {
    what: 'There is no exec, attach, port-forward, log or proxy.',
    why: 'There is no kubelet, and no container runs.',
  },
  {
    what: 'OpenAPI v2 documents of aggregated APIs are not merged, and a Service resolves to its first endpoint.',
    why: 'No supported client reads these documents, and there is no Service network.',
  },
  {
    what: 'ValidatingAdmissionPolicies apply from the next request on, in the order of their names. kube-apiserver reads them once a second, and the first denial depends on timing.',
    why: 'Tests need not wait and get the same response every time.',
  },
  {
    what: 'Authors of ValidatingAdmissionPolicies and bindings need no permission to read the parameters; kube-apiserver requires `get` or `list`.',
    why: 'Only cluster administrators write policies on this server. The check is not implemented.',
  },
  {
    what: 'ValidatingAdmissionPolicies have no `status.typeChecking`. The action Audit and audit annotations are evaluated and not recorded.',
    why: 'A controller of kube-controller-manager checks types, and the server has no audit log. Errors of audit annotations deny the request as on kube-apiserver.',
  },
  {
    what: 'Times in `namespaceObject` are timestamps in CEL expressions. kube-apiserver declares timestamps and evaluates strings, so their use is an error there.',
    why: 'The declaration says timestamp.',
  },
  {
    what: 'A protobuf body for a custom resource gets 415.',
    why: 'kube-apiserver panics on it; clients understand 415.',
  },
  {
    what: 'Without `--authorization-mode=RBAC` every authenticated user may do everything, and access reviews say so.',
    why: 'A new user needs no setup. With RBAC the stored roles and bindings decide, as on kube-apiserver.',
  },
  {
    what: 'Aggregation of ClusterRoles has effect at once and is not written into the aggregated role; other rules of such a role are shown and have no effect.',
    why: 'A controller writes aggregated rules on kube-apiserver; the resulting permissions are the same.',
  },
  {
    what: 'Addresses of Services are not stored as IPAddresses, and ServiceCIDRs that clients create have no effect. The Service `default/kubernetes` exists when the server listens on a socket, and its endpoint may be a loopback address.',
    why: 'The stored Services are the state of the allocator. In process the server has no address; by default it listens on loopback only.',
  },
  {
    what: 'Values of resource.k8s.io are not validated, except that specs of claims are immutable. Permissions for their status are not checked.',
    why: 'Device drivers and the scheduler write these objects; there is neither.',
  },
  {
    what: 'Service account tokens are signed with a secret of the server (HS256), not with a key pair.',
    why: 'Clients treat tokens as opaque, and no other server verifies them.',
  },
];
