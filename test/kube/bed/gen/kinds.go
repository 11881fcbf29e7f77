package main

import (
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/install"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
)

// A servedGroup lists the kinds of one group version that the embedded server knows. Kinds with a List are resources
// of their own; the others are only the body of a review or of a subresource.
type servedGroup struct {
	group   string
	version string // default: v1
	listed  []string
	bodies  []string
}

func (group servedGroup) groupVersion() schema.GroupVersion {
	if group.version == "" {
		return schema.GroupVersion{Group: group.group, Version: "v1"}
	}
	return schema.GroupVersion{Group: group.group, Version: group.version}
}

var served = []servedGroup{
	{group: "", listed: []string{
		"ComponentStatus", "ConfigMap", "Endpoints", "Event", "LimitRange", "Namespace", "Node", "PersistentVolume",
		"PersistentVolumeClaim", "Pod", "PodTemplate", "ReplicationController", "ResourceQuota", "Secret", "Service",
		"ServiceAccount",
	}, bodies: []string{"Binding"}},
	{group: "admissionregistration.k8s.io", listed: []string{
		"MutatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
		"ValidatingWebhookConfiguration",
	}},
	{group: "apiextensions.k8s.io", listed: []string{"CustomResourceDefinition"}},
	{group: "apiregistration.k8s.io", listed: []string{"APIService"}},
	{group: "apps", listed: []string{"ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"}},
	{group: "authentication.k8s.io", bodies: []string{"SelfSubjectReview", "TokenRequest", "TokenReview"}},
	{group: "authorization.k8s.io", bodies: []string{
		"LocalSubjectAccessReview", "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview",
	}},
	{group: "autoscaling", listed: []string{"HorizontalPodAutoscaler"}, bodies: []string{"Scale"}},
	{group: "autoscaling", version: "v2", listed: []string{"HorizontalPodAutoscaler"}},
	{group: "batch", listed: []string{"CronJob", "Job"}},
	{group: "certificates.k8s.io", listed: []string{"CertificateSigningRequest"}},
	{group: "coordination.k8s.io", listed: []string{"Lease"}},
	{group: "discovery.k8s.io", listed: []string{"EndpointSlice"}},
	{group: "events.k8s.io", listed: []string{"Event"}},
	{group: "flowcontrol.apiserver.k8s.io", listed: []string{"FlowSchema", "PriorityLevelConfiguration"}},
	{group: "networking.k8s.io", listed: []string{
		"IPAddress", "Ingress", "IngressClass", "NetworkPolicy", "ServiceCIDR",
	}},
	{group: "node.k8s.io", listed: []string{"RuntimeClass"}},
	{group: "policy", listed: []string{"PodDisruptionBudget"}, bodies: []string{"Eviction"}},
	{group: "rbac.authorization.k8s.io", listed: []string{"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}},
	{group: "resource.k8s.io", listed: []string{
		"DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice",
	}},
	{group: "scheduling.k8s.io", listed: []string{"PriorityClass"}},
	{group: "storage.k8s.io", listed: []string{
		"CSIDriver", "CSINode", "CSIStorageCapacity", "StorageClass", "VolumeAttachment", "VolumeAttributesClass",
	}},
}

// metaKinds belong to no group: what requests and answers are made of.
var metaKinds = map[string]any{
	"v1/Status":                                metav1.Status{},
	"v1/CreateOptions":                         metav1.CreateOptions{},
	"v1/GetOptions":                            metav1.GetOptions{},
	"v1/ListOptions":                           metav1.ListOptions{},
	"v1/PatchOptions":                          metav1.PatchOptions{},
	"v1/UpdateOptions":                         metav1.UpdateOptions{},
	"meta.k8s.io/v1/DeleteOptions":             metav1.DeleteOptions{},
	"meta.k8s.io/v1/PartialObjectMetadata":     metav1.PartialObjectMetadata{},
	"meta.k8s.io/v1/PartialObjectMetadataList": metav1.PartialObjectMetadataList{},
}

// newScheme is the API server's own scheme, with custom resource definitions and API services added.
func newScheme() *runtime.Scheme {
	scheme := legacyscheme.Scheme
	apiextensions.Install(scheme)
	apiregistration.Install(scheme)
	return scheme
}

// eachRoot calls visit for every served kind that has a body of its own, in a fixed order.
func eachRoot(scheme *runtime.Scheme, visit func(key string, object runtime.Object)) {
	for _, group := range served {
		gv := group.groupVersion()
		for _, kind := range append(append([]string{}, group.listed...), group.bodies...) {
			visit(gv.String()+"/"+kind, mustNew(scheme, gv.WithKind(kind)))
		}
	}
}

func mustNew(scheme *runtime.Scheme, gvk schema.GroupVersionKind) runtime.Object {
	object, err := scheme.New(gvk)
	if err != nil {
		panic(err)
	}
	return object
}
