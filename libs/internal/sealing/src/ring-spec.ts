import { path, text } from '@ori/runtime/config';
import { isKmsUrl, KMS_URL_FORMS } from './kms-address.ts';

/** The settings of a service's ring, `…_KEK_…` and `…_KMS_…`. */
export const ringSpec = (doc: string) =>
  ({
    kekFile: path({ doc }),
    kmsUrl: kmsUrlField(
      'The key of a KMS that wrapped the KEKs in the ring; without it they are in the file themselves',
    ),
    kmsTokenFile: path({ optional: true, doc: 'The token for `…_KMS_URL`, read for each call' }),
  }) as const;

export const kmsUrlField = (doc: string) =>
  text({ optional: true, doc, expected: KMS_URL_FORMS, accepts: isKmsUrl });
