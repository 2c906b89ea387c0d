import jakarta.servlet.http.*;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Keeps notes for logged-in users. The container does the rest. */
public class Notes extends HttpServlet implements HttpSessionListener {
    private static final Set<HttpSession> sessions = ConcurrentHashMap.newKeySet();
    private static final Set<String> notes = ConcurrentHashMap.newKeySet();

    @Override
    public void sessionCreated(HttpSessionEvent event) {
        sessions.add(event.getSession());
    }

    @Override
    public void sessionDestroyed(HttpSessionEvent event) {
        sessions.remove(event.getSession());
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setContentType("text/html;charset=UTF-8");
        var page = response.getWriter();
        switch (request.getServletPath()) {
            case "/login", "/refused" -> {
                if (request.getServletPath().equals("/refused")) {
                    page.println("<p class=\"error\">The user name or the password is wrong.</p>");
                }
                page.println("<form method=\"post\" action=\"j_security_check\"><input name=\"j_username\">");
                page.println("<input type=\"password\" name=\"j_password\"><button>Log in</button></form>");
            }
            case "/forget" -> {
                for (HttpSession session : sessions) {
                    session.invalidate();
                }
            }
            default -> page.println("<p>Hello " + request.getRemoteUser() + "</p><p>" + String.join(" ", notes) + "</p>");
        }
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        switch (request.getServletPath()) {
            // The container forwards what it received to its login page.
            case "/login", "/refused" -> doGet(request, response);
            case "/logout" -> {
                request.getSession().invalidate();
                response.sendRedirect(request.getContextPath() + "/");
            }
            default -> {
                notes.add(request.getParameter("text"));
                response.setStatus(HttpServletResponse.SC_CREATED);
            }
        }
    }
}
