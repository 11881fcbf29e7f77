// API groups whose objects Lapse neither deletes nor creates for the author of an object.

/** Groups for authorization and admission, and Lapse's own: changes of their objects would bypass these mechanisms. */
const DENIED_GROUPS = new Set([
  'rbac.authorization.k8s.io',
  'admissionregistration.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'cleaner.vtex.dev',
  'lapse.dev',
]);

export const isDenied = (group: string): boolean => DENIED_GROUPS.has(group);
