// Addresses that the page may follow: files of this report only, never a recorded URL.

const FORBIDDEN_FORM = /^[\s/\\]|[\u0000-\u001f\\]|^[^/?#]*:/; // absolute, of another scheme, or disguised as relative
const INLINE_IMAGE = /^data:image\/(jpeg|png|webp);base64,[A-Za-z0-9+/=]*$/;

/** The address if it is relative and stays on the page's own host, else null. */
export function localAddress(address) {
  if (typeof address !== "string" || FORBIDDEN_FORM.test(address)) return null;
  try {
    const url = new URL(address, document.baseURI);
    return url.protocol === location.protocol && url.host === location.host ? address : null;
  } catch {
    return null;
  }
}

/** The address if an image may be loaded from it, else null. */
export const imageAddress = (address) =>
  typeof address === "string" && INLINE_IMAGE.test(address) ? address : localAddress(address);
