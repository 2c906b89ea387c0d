/* Asserts the sizes and offsets of the contract that existing plugins were built with. If a line here fails to compile, the
 * ABI has changed: before the freeze, raise NEVOD_ABI_DRAFT; after it, undo the change. A field that is appended after the freeze
 * gets a line of its own, and changes no minimum. */
#include "nevod_plugin.h"

#define MINIMUM(type, size, constant) \
    _Static_assert((constant) == (size), #constant " has changed"); \
    _Static_assert(sizeof(type) >= (size), #type " has become shorter")
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type " has changed its size")
#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field " has moved")
#define FLAGS(bits) _Static_assert(((bits) & ~(NEVOD_CRITICAL_BITS | NEVOD_IGNORABLE_BITS)) == 0, "bit 31 is never assigned")

SIZE(nevod_bytes, 16);
AT(nevod_bytes, data, 0);
AT(nevod_bytes, count, 8);

SIZE(nevod_pair, 32);
AT(nevod_pair, name, 0);
AT(nevod_pair, value, 16);

MINIMUM(nevod_errors, 24, NEVOD_ERRORS_MINIMUM);
AT(nevod_errors, reserved, 4);
AT(nevod_errors, host, 8);
AT(nevod_errors, report, 16);

MINIMUM(nevod_host, 64, NEVOD_HOST_MINIMUM);
AT(nevod_host, abi_minor, 4);
AT(nevod_host, host, 8);
AT(nevod_host, name, 16);
AT(nevod_host, version, 32);
AT(nevod_host, log, 48);
AT(nevod_host, get_extension, 56);

MINIMUM(nevod_view, 192, NEVOD_VIEW_MINIMUM);
AT(nevod_view, target_kind, 4);
AT(nevod_view, method, 8);
AT(nevod_view, scheme, 24);
AT(nevod_view, authority, 40);
AT(nevod_view, target, 56);
AT(nevod_view, headers, 72);
AT(nevod_view, header_count, 80);
AT(nevod_view, body_kind, 84);
AT(nevod_view, body_length, 88);
AT(nevod_view, body, 96);
AT(nevod_view, digests, 112);
AT(nevod_view, digest_count, 120);
AT(nevod_view, attempt, 124);
AT(nevod_view, unix_time_ns, 128);
AT(nevod_view, random, 136);
AT(nevod_view, use_count, 152);
AT(nevod_view, state, 160);
AT(nevod_view, parameters, 176);
AT(nevod_view, parameter_count, 184);
AT(nevod_view, reserved, 188);

MINIMUM(nevod_edits, 64, NEVOD_EDITS_MINIMUM);
AT(nevod_edits, reserved, 4);
AT(nevod_edits, host, 8);
AT(nevod_edits, set_header, 16);
AT(nevod_edits, add_header, 24);
AT(nevod_edits, add_query, 32);
AT(nevod_edits, add_cookie, 40);
AT(nevod_edits, replace_body, 48);
AT(nevod_edits, wrap_body, 56);

MINIMUM(nevod_output, 24, NEVOD_OUTPUT_MINIMUM);
AT(nevod_output, reserved, 4);
AT(nevod_output, host, 8);
AT(nevod_output, write, 16);

MINIMUM(nevod_response, 72, NEVOD_RESPONSE_MINIMUM);
AT(nevod_response, status, 4);
AT(nevod_response, target_kind, 8);
AT(nevod_response, header_count, 12);
AT(nevod_response, headers, 16);
AT(nevod_response, body, 24);
AT(nevod_response, url, 40);
AT(nevod_response, digests, 56);
AT(nevod_response, digest_count, 64);
AT(nevod_response, flags, 68);

MINIMUM(nevod_setting, 72, NEVOD_SETTING_MINIMUM);
AT(nevod_setting, kind, 4);
AT(nevod_setting, flags, 8);
AT(nevod_setting, choice_count, 12);
AT(nevod_setting, choices, 16);
AT(nevod_setting, name, 24);
AT(nevod_setting, default_value, 40);
AT(nevod_setting, help, 56);

MINIMUM(nevod_needs, 56, NEVOD_NEEDS_MINIMUM);
AT(nevod_needs, flags, 4);
AT(nevod_needs, digests, 8);
AT(nevod_needs, response_digests, 16);
AT(nevod_needs, challenge_statuses, 24);
AT(nevod_needs, digest_count, 32);
AT(nevod_needs, response_digest_count, 36);
AT(nevod_needs, challenge_status_count, 40);
AT(nevod_needs, challenge_type_count, 44);
AT(nevod_needs, challenge_types, 48);

MINIMUM(nevod_token, 48, NEVOD_TOKEN_MINIMUM);
AT(nevod_token, reserved, 4);
AT(nevod_token, bytes, 8);
AT(nevod_token, expires_at_unix_ns, 24);
AT(nevod_token, account, 32);

MINIMUM(nevod_event, 160, NEVOD_EVENT_MINIMUM);
AT(nevod_event, kind, 4);
AT(nevod_event, unix_time_ns, 8);
AT(nevod_event, random, 16);
AT(nevod_event, response, 32);
AT(nevod_event, token, 40);
AT(nevod_event, answers, 48);
AT(nevod_event, answer_count, 56);
AT(nevod_event, transport_error, 60);
AT(nevod_event, message, 64);
AT(nevod_event, url, 80);
AT(nevod_event, state, 96);
AT(nevod_event, account, 112);
AT(nevod_event, body, 128);
AT(nevod_event, parameters, 144);
AT(nevod_event, parameter_count, 152);
AT(nevod_event, reserved, 156);

MINIMUM(nevod_question, 56, NEVOD_QUESTION_MINIMUM);
AT(nevod_question, kind, 4);
AT(nevod_question, name, 8);
AT(nevod_question, prompt, 24);
AT(nevod_question, choices, 40);
AT(nevod_question, choice_count, 48);
AT(nevod_question, reserved, 52);

MINIMUM(nevod_flow_request, 72, NEVOD_FLOW_REQUEST_MINIMUM);
AT(nevod_flow_request, header_count, 4);
AT(nevod_flow_request, method, 8);
AT(nevod_flow_request, url, 24);
AT(nevod_flow_request, headers, 40);
AT(nevod_flow_request, body, 48);
AT(nevod_flow_request, follow_redirects, 64);
AT(nevod_flow_request, reserved, 68);

MINIMUM(nevod_listen, 48, NEVOD_LISTEN_MINIMUM);
AT(nevod_listen, flags, 4);
AT(nevod_listen, path, 8);
AT(nevod_listen, host, 24);
AT(nevod_listen, port, 40);
AT(nevod_listen, reserved, 44);

MINIMUM(nevod_actions, 88, NEVOD_ACTIONS_MINIMUM);
AT(nevod_actions, reserved, 4);
AT(nevod_actions, host, 8);
AT(nevod_actions, send, 16);
AT(nevod_actions, ask, 24);
AT(nevod_actions, show, 32);
AT(nevod_actions, listen, 40);
AT(nevod_actions, browse, 48);
AT(nevod_actions, wait, 56);
AT(nevod_actions, keep, 64);
AT(nevod_actions, token, 72);
AT(nevod_actions, set_state, 80);

SIZE(nevod_public_suffix, 24);
AT(nevod_public_suffix, reserved, 4);
AT(nevod_public_suffix, host, 8);
AT(nevod_public_suffix, is_public, 16);

MINIMUM(nevod_scheme, 168, NEVOD_SCHEME_MINIMUM);
AT(nevod_scheme, flags, 4);
AT(nevod_scheme, context, 8);
AT(nevod_scheme, id, 16);
AT(nevod_scheme, title, 32);
AT(nevod_scheme, settings, 48);
AT(nevod_scheme, parameters, 56);
AT(nevod_scheme, setting_count, 64);
AT(nevod_scheme, parameter_count, 68);
AT(nevod_scheme, create, 72);
AT(nevod_scheme, destroy, 80);
AT(nevod_scheme, needs, 88);
AT(nevod_scheme, token_decode, 96);
AT(nevod_scheme, token_free, 104);
AT(nevod_scheme, authorize, 112);
AT(nevod_scheme, on_response, 120);
AT(nevod_scheme, flow_begin, 128);
AT(nevod_scheme, flow_step, 136);
AT(nevod_scheme, flow_free, 144);
AT(nevod_scheme, body_piece, 152);
AT(nevod_scheme, body_free, 160);

MINIMUM(nevod_plugin, 88, NEVOD_PLUGIN_MINIMUM);
AT(nevod_plugin, abi_major, 4);
AT(nevod_plugin, abi_draft, 8);
AT(nevod_plugin, abi_minor, 12);
AT(nevod_plugin, schemes, 16);
AT(nevod_plugin, scheme_count, 24);
AT(nevod_plugin, reserved, 28);
AT(nevod_plugin, name, 32);
AT(nevod_plugin, version, 48);
AT(nevod_plugin, vendor, 64);
AT(nevod_plugin, get_extension, 80);

/* A size that the draft's structs still have: an append must be a decision. Gone with the freeze. */
SIZE(nevod_errors, 24);
SIZE(nevod_host, 64);
SIZE(nevod_view, 192);
SIZE(nevod_edits, 64);
SIZE(nevod_output, 24);
SIZE(nevod_response, 72);
SIZE(nevod_setting, 72);
SIZE(nevod_needs, 56);
SIZE(nevod_token, 48);
SIZE(nevod_event, 160);
SIZE(nevod_question, 56);
SIZE(nevod_flow_request, 72);
SIZE(nevod_listen, 48);
SIZE(nevod_actions, 88);
SIZE(nevod_scheme, 168);
SIZE(nevod_plugin, 88);

FLAGS(NEVOD_SETTING_REQUIRED | NEVOD_SETTING_SECRET | NEVOD_SETTING_REPEATABLE | NEVOD_SETTING_ISSUER | NEVOD_SETTING_RELATIVE);
FLAGS(NEVOD_NEED_BODY | NEVOD_NEED_HEADERS | NEVOD_NEED_CHALLENGES | NEVOD_NEED_OTHER_RESPONSES | NEVOD_NEED_RANDOM | NEVOD_NEED_STATE | NEVOD_NEED_USE_COUNT | NEVOD_NEED_CHALLENGE_BODY | NEVOD_NEED_REPLACE_BODY);
FLAGS(NEVOD_SCHEME_BLOCKS | NEVOD_SCHEME_INTERACTIVE | NEVOD_SCHEME_NONDETERMINISTIC);
FLAGS(NEVOD_LISTEN_FORM_POST);
FLAGS(NEVOD_RESPONSE_CUT);
