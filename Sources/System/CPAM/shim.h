/* The part of libpam that is used, with the names and types of its public headers. Neither the library nor its headers are needed
 * to build: the functions are looked up when a presence is first checked. */
#include "../CLinux/table.h"
#include <stdint.h>

/* pam_handle_t: opaque. */
typedef struct pam_handle pam_handle_t;

/* What a module asks or tells the user. */
struct pam_message {
    int msg_style;
    const char *msg;
};

/* The answer to a message: libpam's caller allocates it with malloc(3), and a module frees it. */
struct pam_response {
    char *resp;
    int resp_retcode;
};

/* Linux-PAM passes an array of pointers to messages. */
struct pam_conv {
    int (*conv)(int count, const struct pam_message **messages, struct pam_response **responses, void *context);
    void *appdata_ptr;
};

int pam_start(const char *service, const char *user, const struct pam_conv *conversation, pam_handle_t **handle);
/* Linux-PAM 1.4 and later. */
int pam_start_confdir(
    const char *service, const char *user, const struct pam_conv *conversation, const char *folder, pam_handle_t **handle);
int pam_end(pam_handle_t *handle, int status);
int pam_authenticate(pam_handle_t *handle, int flags);
int pam_acct_mgmt(pam_handle_t *handle, int flags);
const char *pam_strerror(pam_handle_t *handle, int code);

#define NEVOD_PAM_EACH(F) \
    F(pam_start) F(pam_start_confdir) F(pam_end) F(pam_authenticate) F(pam_acct_mgmt) F(pam_strerror)

NEVOD_TABLE(nevod_pam, NEVOD_PAM_EACH)

enum {
    PAM_DISALLOW_NULL_AUTHTOK = 0x0001
};

/* Styles of messages. */
enum {
    PAM_PROMPT_ECHO_OFF = 1,
    PAM_PROMPT_ECHO_ON = 2,
    PAM_ERROR_MSG = 3,
    PAM_TEXT_INFO = 4
};

/* Limits of a conversation. */
enum {
    PAM_MAX_NUM_MSG = 32,
    PAM_MAX_MSG_SIZE = 512,
    PAM_MAX_RESP_SIZE = 512
};

/* Return codes. */
enum {
    PAM_SUCCESS = 0,
    PAM_SYSTEM_ERR = 4,
    PAM_BUF_ERR = 5,
    PAM_PERM_DENIED = 6,
    PAM_AUTH_ERR = 7,
    PAM_USER_UNKNOWN = 10,
    PAM_MAXTRIES = 11,
    PAM_NEW_AUTHTOK_REQD = 12,
    PAM_ACCT_EXPIRED = 13,
    PAM_CONV_ERR = 19,
    PAM_ABORT = 26,
    PAM_AUTHTOK_EXPIRED = 27
};
