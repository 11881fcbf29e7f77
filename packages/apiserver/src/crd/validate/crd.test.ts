import type { JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { crd, object, version } from '../testkit.ts';
import { validateCrdUpdate } from './crd.ts';
import { prepared, refusals, short, withA } from './testkit.ts';

describe('fields other than the schema', () => {
  const spec = (more: JsonObject) => crd({ more });
  test.each<[string, object, string[]]>([
    [
      'a name that does not match plural and group',
      { ...crd(), metadata: { name: 'foo' } },
      ['metadata.name: Invalid value: "foo": must be spec.names.plural+"."+spec.group'],
    ],
    [
      'a generated name',
      { ...crd(), metadata: { name: 'foo1', generateName: 'foo' } },
      [
        'metadata.generateName: Invalid value: "foo": must be spec.names.plural+"."+spec.group',
        'metadata.name: Invalid value: "foo1": must be spec.names.plural+"."+spec.group',
      ],
    ],
    ['no scope', spec({ scope: '' }), ['spec.scope: Required value']],
    [
      'another scope',
      spec({ scope: 'Global' }),
      ['spec.scope: Unsupported value: "Global": supported values: "Cluster", "Namespaced"'],
    ],
    [
      'equal kind and list kind',
      spec({ names: { plural: 'widgets', kind: 'Widget', listKind: 'Widget' } }),
      ['spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'],
    ],
    [
      'no kind',
      spec({ names: { plural: 'widgets' } }),
      [
        'spec.names.singular: Required value',
        'spec.names.kind: Required value',
        'spec.names.listKind: Required value',
      ],
    ],
    [
      'no versions',
      spec({ versions: [] }),
      [
        'spec.versions: Invalid value: []: must have exactly one version marked as storage version',
        'status.storedVersions: Invalid value: null: must have at least one stored version',
      ],
    ],
    ['no schema', crd({ v1: { schema: {} } }), ['spec.versions[0].schema.openAPIV3Schema: Required value']],
    [
      'preserveUnknownFields',
      spec({ preserveUnknownFields: true }),
      [
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ],
    ],
    [
      'a deprecation warning for a version that is not deprecated',
      crd({ v1: { deprecationWarning: 'x' } }),
      ['spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions'],
    ],
    [
      'a deprecation warning with a line break',
      crd({ v1: { deprecated: true, deprecationWarning: 'ab\nc' } }),
      [
        'spec.versions[0].deprecationWarning: Invalid value: "ab\\nc": must only contain printable UTF-8 characters; non-printable character found at index 2',
      ],
    ],
    [
      'an empty column',
      crd({ v1: { additionalPrinterColumns: [{}] } }),
      [
        'spec.additionalPrinterColumns[0].name: Required value',
        'spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string',
        'spec.additionalPrinterColumns[0].JSONPath: Required value',
      ],
    ],
    [
      'a scale outside spec and status',
      crd({ v1: { subresources: { scale: { specReplicasPath: '.a', statusReplicasPath: 'b' } } } }),
      [
        'spec.subresources.scale.specReplicasPath: Invalid value: ".a": should be a json path under .spec',
        'spec.subresources.scale.statusReplicasPath: Invalid value: "b": must be a simple json path starting with .',
      ],
    ],
    [
      'a selectable object',
      crd({ v1: { selectableFields: [{ jsonPath: '.spec' }] } }),
      [
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      ],
    ],
    [
      'a duplicate selectable field',
      crd({ v1: { selectableFields: [{ jsonPath: '.spec.size' }, { jsonPath: '.spec.size' }] } }),
      ['spec.selectableFields[1].jsonPath: Duplicate value: ".spec.size"'],
    ],
    [
      'an unknown conversion',
      spec({ conversion: { strategy: 'Foo' } }),
      ['spec.conversion.strategy: Unsupported value: "Foo": supported values: "None", "Webhook"'],
    ],
    [
      'a webhook without address',
      spec({
        conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v9'], clientConfig: {} } },
      }),
      [
        'spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required',
        'spec.conversion.conversionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1',
      ],
    ],
    [
      'a webhook over http',
      spec({
        conversion: {
          strategy: 'Webhook',
          webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'http://u:p@x/?a#b' } },
        },
      }),
      [
        `spec.conversion.webhookClientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
        'spec.conversion.webhookClientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
        'spec.conversion.webhookClientConfig.url: Invalid value: "b": fragments are not permitted in the URL',
        'spec.conversion.webhookClientConfig.url: Invalid value: "a": query parameters are not permitted in the URL',
      ],
    ],
    [
      'a community group',
      { ...spec({ group: 'toys.k8s.io' }), metadata: { name: 'widgets.toys.k8s.io' } },
      [
        'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ],
    ],
  ])('%s', (_, made, errors) => {
    expect(refusals(made)).toEqual(errors);
  });

  test('prints two storage versions as Go structs', () => {
    const versions = [version('v1', object(), { storage: true }), version('v2', object(), { storage: true })];
    expect(refusals(crd({ versions }))).toEqual([
      'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v2","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version',
      'status.storedVersions: Invalid value: ["v1"]: must have the storage version v2',
    ]);
  });
});

describe('updates', () => {
  const established = (raw: object) => {
    const made = prepared(raw);
    const status = made['status'] as JsonObject;
    status['conditions'] = [{ type: 'Established', status: 'True' }];
    return made;
  };
  test.each<[string, object, object, string[]]>([
    [
      'group and plural are immutable',
      crd(),
      crd({ more: { group: 'other.example.com', names: { plural: 'gadgets', kind: 'Widget' } } }),
      [
        'spec.group: Invalid value: "other.example.com": field is immutable',
        'spec.names.plural: Invalid value: "gadgets": field is immutable',
      ],
    ],
    [
      'scope and kind are immutable once Established',
      crd(),
      crd({ more: { scope: 'Cluster', names: { plural: 'widgets', kind: 'Gadget' } } }),
      [
        'spec.scope: Invalid value: "Cluster": field is immutable',
        'spec.names.kind: Invalid value: "Gadget": field is immutable',
      ],
    ],
    [
      'a stored version cannot be removed',
      crd(),
      crd({ versions: [version('v2', object(), { storage: true })] }),
      [
        'status.storedVersions: Invalid value: ["v1"]: must have the storage version v2',
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
      ],
    ],
    ['an invalid type may stay invalid', withA({ type: 'foo' }), withA({ type: 'bar' }), []],
    [
      'an invalid set may stay invalid',
      withA({ type: 'array', items: object(), 'x-kubernetes-list-type': 'set' }),
      withA({ type: 'array', items: object({}, { description: 'x' }), 'x-kubernetes-list-type': 'set' }),
      [],
    ],
    [
      'a missing schema may stay missing for versions that are not served',
      crd({ v1: { schema: {}, served: false } }),
      crd({ v1: { schema: {}, served: false } }),
      [],
    ],
    ['too many selectable fields may stay', tooMany(), tooMany(), []],
  ])('%s', (_, old, next, errors) => {
    const before = established(old);
    const after = prepared(next);
    after['status'] = before['status'] as never;
    expect(short(validateCrdUpdate(after, before))).toEqual(errors);
  });

  function tooMany() {
    const names = [...'abcdefghi'];
    const fields = Object.fromEntries(names.map((n) => [n, { type: 'string' }]));
    return crd({
      spec: object(fields),
      v1: { selectableFields: names.map((n) => ({ jsonPath: `.spec.${n}` })) },
    });
  }
});
