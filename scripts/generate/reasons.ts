// Rules of the defaults that are not constants, read from Kubernetes' defaulting and conversion functions. The
// generator detects which fields are conditional and fails if one of them is not explained here.

/** Struct and field → the rule. */
export const CONDITIONAL: Record<string, string> = {
  'apps.v1.DaemonSetUpdateStrategy.rollingUpdate': 'only when type is (or became) RollingUpdate',
  'apps.v1.DeploymentStrategy.rollingUpdate': 'only when type is (or became) RollingUpdate',
  'apps.v1.RollingUpdateDaemonSet.maxSurge': 'only when the strategy is RollingUpdate',
  'apps.v1.RollingUpdateDaemonSet.maxUnavailable': 'only when the strategy is RollingUpdate',
  'apps.v1.RollingUpdateDeployment.maxSurge': 'only when the strategy is RollingUpdate',
  'apps.v1.RollingUpdateDeployment.maxUnavailable': 'only when the strategy is RollingUpdate',
  'apps.v1.RollingUpdateStatefulSetStrategy.partition': 'only when the strategy is RollingUpdate',
  'apps.v1.StatefulSetUpdateStrategy.rollingUpdate':
    'only when type was absent; an explicit RollingUpdate gets none',
  'autoscaling.v2.HPAScalingRules.policies':
    'with a behavior: scaleUp by 4 Pods or 100% in 15 seconds, scaleDown by 100% in 15 seconds',
  'autoscaling.v2.HPAScalingRules.stabilizationWindowSeconds': 'scaleUp only',
  'batch.v1.JobSpec.backoffLimit':
    'Jobs only, not the template in a CronJob: 2147483647 with backoffLimitPerIndex, else 6',
  'batch.v1.JobSpec.completionMode': 'Jobs only, not the template in a CronJob',
  'batch.v1.JobSpec.completions': 'Jobs only: 1 when parallelism is absent too, else nothing',
  'batch.v1.JobSpec.manualSelector': 'Jobs only, not the template in a CronJob',
  'batch.v1.JobSpec.parallelism': 'Jobs only, not the template in a CronJob',
  'batch.v1.JobSpec.podReplacementPolicy':
    'Jobs only: Failed with a podFailurePolicy, else TerminatingOrFailed',
  'batch.v1.JobSpec.suspend': 'Jobs only, not the template in a CronJob',
  'core.v1.ClientIPConfig.timeoutSeconds': 'only when sessionAffinity is ClientIP',
  'core.v1.Container.imagePullPolicy':
    'Always when the image has tag latest, or neither tag nor digest; else, and when it cannot be parsed, IfNotPresent',
  'core.v1.ContainerPort.hostPort': 'Pods only, not templates: containerPort when hostNetwork is true',
  'core.v1.EphemeralContainer.imagePullPolicy': 'as Container.imagePullPolicy',
  'core.v1.EphemeralContainerCommon.imagePullPolicy': 'as Container.imagePullPolicy',
  'core.v1.ImageVolumeSource.pullPolicy': 'as Container.imagePullPolicy, of the reference',
  'core.v1.LimitRangeItem.default': 'type Container only: per resource, what max says',
  'core.v1.LimitRangeItem.defaultRequest': 'type Container only: per resource, what default says, else min',
  'core.v1.LoadBalancerIngress.ipMode': 'VIP when the Service is a LoadBalancer and ip is set',
  'core.v1.NodeStatus.allocatable': 'a copy of capacity when absent',
  'core.v1.PersistentVolumeSpec.persistentVolumeReclaimPolicy':
    'PersistentVolumes only, not in a VolumeAttachment',
  'core.v1.PersistentVolumeSpec.volumeMode': 'PersistentVolumes only, not in a VolumeAttachment',
  'core.v1.PodSpec.enableServiceLinks': 'Pods only, not templates',
  'core.v1.ReplicationControllerSpec.selector': 'the labels of the template',
  'core.v1.ResourceRequirements.limits':
    'Pods only: spec.resources gets the sum of hugepages limits of the containers, unless limited or requested there',
  'core.v1.ResourceRequirements.requests':
    'Pods only: per resource, a container requests what it limits; spec.resources with limits requests what the containers request in sum, else its limits',
  'core.v1.ServicePort.targetPort': 'port, when 0 or empty',
  'core.v1.ServiceSpec.allocateLoadBalancerNodePorts': 'type LoadBalancer only',
  'core.v1.ServiceSpec.externalTrafficPolicy':
    'types LoadBalancer and NodePort, and ClusterIP with externalIPs',
  'core.v1.ServiceSpec.internalTrafficPolicy': 'every type but ExternalName',
  'core.v1.ServiceSpec.sessionAffinityConfig':
    'removed when sessionAffinity is None; replaced as a whole when it is ClientIP and no timeout is given',
  'core.v1.SessionAffinityConfig.clientIP': 'only when sessionAffinity is ClientIP',
  'core.v1.Volume.emptyDir': 'only when the volume has no source at all',
  'core.v1.VolumeSource.emptyDir': 'only when the volume has no source at all',
  'networking.v1.NetworkPolicySpec.policyTypes':
    'when absent or empty: Ingress, and Egress if there are egress rules',
  'resource.v1.DeviceSubRequest.count': 'only when allocationMode is (or became) ExactCount',
  'resource.v1.DeviceTaint.timeAdded': 'the time of the request',
  'resource.v1.ExactDeviceRequest.count': 'only when allocationMode is (or became) ExactCount',
  'rbac.v1.Subject.apiGroup': 'kinds User and Group only',
  'apiextensions.v1.CustomResourceDefinitionNames.listKind': 'kind + List',
  'apiextensions.v1.CustomResourceDefinitionNames.singular': 'kind in lower case',
  'apiextensions.v1.CustomResourceDefinitionStatus.storedVersions': 'the first version with storage: true',
  'meta.v1.ObjectMeta.labels':
    "Job and ReplicationController: the template's labels when it has none of its own; Namespace: kubernetes.io/metadata.name, whenever it has a name",
};

/** The same for changes by the conversion through the internal version. */
export const CONVERSION: Record<string, string> = {
  'autoscaling.v1.HorizontalPodAutoscalerSpec.targetCPUUtilizationPercentage':
    '80 when no metric is given, neither here nor in an annotation',
  'apps.v1.RollingUpdateDaemonSet.maxSurge': '0 even under another strategy',
  'apps.v1.RollingUpdateDaemonSet.maxUnavailable': '0 even under another strategy',
  'apps.v1.RollingUpdateDeployment.maxSurge': '0 even under another strategy',
  'apps.v1.RollingUpdateDeployment.maxUnavailable': '0 even under another strategy',
  'apps.v1.RollingUpdateStatefulSetStrategy.partition': '0 even under another strategy',
  'core.v1.NodeSpec.podCIDR': 'the first of podCIDRs',
  'core.v1.NodeSpec.podCIDRs': 'podCIDR alone when absent, or when the first differs from it',
  'core.v1.PodIP.ip': 'see PodStatus.podIPs',
  'core.v1.PodSpec.serviceAccount': 'always the same as serviceAccountName',
  'core.v1.PodSpec.serviceAccountName': 'serviceAccount when absent',
  'core.v1.PodStatus.podIP': 'the first of podIPs',
  'core.v1.PodStatus.podIPs': 'podIP alone when absent, or when the first differs from it',
  'core.v1.Secret.data': 'stringData is merged into it and wins',
  'core.v1.Secret.stringData': 'moved into data',
  'apiextensions.v1.CustomResourceConversion.webhook': 'dropped when empty',
  'apiextensions.v1.JSONSchemaProps.default': 'dropped when empty',
  'apiextensions.v1.JSONSchemaProps.example': 'dropped when empty',
  'meta.v1.ObjectMeta.annotations':
    'DaemonSet: deprecated.daemonset.template.generation, which the strategy counts from 1',
};
