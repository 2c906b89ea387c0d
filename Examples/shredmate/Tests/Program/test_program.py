"""Uses the program as a person would."""

import random
import unittest

from support import EMAIL, PASSWORD, PROGRAM, ProgramTest, terminal


class WholeRun(ProgramTest):
    def test_a_person_logs_in_works_is_expired_and_logs_out(self):
        """One process, and a server that lets the tokens expire meanwhile."""
        picture = self.folder / "ada.jpg"
        picture.write_bytes(random.randbytes(300_000))
        program = self.start()
        lines = []

        def enter(command, count):
            program.stdin.write(command + "\n")
            program.stdin.flush()
            lines.extend(program.stdout.readline() for _ in range(count))

        enter(f"login {EMAIL}", 1)
        enter("profile", 3)
        self.backend.tell("expire")
        enter(f"avatar {picture}", 1)
        enter("ride bmx/street expert", 1)
        self.backend.tell("expire")
        enter("profile", 5)
        enter("logout", 1)
        enter("profile", 1)
        program.stdin.close()
        lines += program.stdout.readlines()
        self.assertEqual(program.wait(60), 0)
        self.outputs.append("".join(lines))

        seen = self.backend.seen()
        avatar = seen["requests"][-1]
        uploaded = next(request["file"] for request in seen["requests"] if request.get("file"))
        self.assertEqual("".join(lines), f"""\
logged in as Ada
Ada, rider
e-mail: ada@example.com
home: not set
uploaded 300000 bytes: /avatars/{uploaded["sha256"][:16]}
BMX street: expert
Ada, rider
e-mail: ada@example.com
home: not set
BMX street: expert
avatar: /avatars/{uploaded["sha256"][:16]}
logged out
shredmate: nobody is logged in; `shredmate login EMAIL` does it
""")
        self.assertEqual((seen["logins"], seen["refreshes"], seen["reuses"]), (1, 2, 0))
        self.assertEqual((avatar["method"], avatar["path"]), ("POST", "/api/v1/auth/logout"))

    def test_a_second_run_restores_the_session(self):
        self.run_program("login", EMAIL)
        self.assertEqual(
            self.run_program("profile", password=None), "Ada, rider\ne-mail: ada@example.com\nhome: not set\n")
        self.backend.tell("expire")
        self.assertEqual(
            self.run_program("profile", password=None), "Ada, rider\ne-mail: ada@example.com\nhome: not set\n")
        self.assertEqual(self.run_program("logout", password=None), "logged out\n")
        self.run_program("profile", password=None, status=1)
        self.assertEqual(self.backend.seen()["logins"], 1)

    def test_every_command(self):
        typed = "\n".join([
            f"login {EMAIL}", "describe mentor Teaches beginners", "home 47.37 8.54 Zürich", "sports", "ride mtb beginner",
            "ride mtb expert", "profile", "drop mtb", "drop mtb", "ride chess expert", "describe tourist x", "delete", "profile"])
        self.assertEqual(self.run_program(typed=typed), """\
logged in as Ada
Ada, mentor: Teaches beginners
home: Zürich (47.37, 8.54)
mtb: Mountain biking
snowboard: Snowboarding
surf: Surfing
bmx/street: BMX street
Mountain biking: beginner
Mountain biking: expert
Ada, mentor: Teaches beginners
e-mail: ada@example.com
home: Zürich
Mountain biking: expert
removed mtb
shredmate: this rider has no such sport
shredmate: there is no such sport
shredmate: there is no such command: describe tourist x; `shredmate help` lists all
the account is deleted
shredmate: nobody is logged in; `shredmate login EMAIL` does it
""")

    def test_the_server_ends_the_session(self):
        self.run_program("login", EMAIL)
        self.backend.tell("revoke")
        ended = "shredmate: the server has ended your session; `shredmate login EMAIL` starts another\n"
        self.assertEqual(self.run_program("sports", password=None, status=1), ended)
        out = "shredmate: nobody is logged in; `shredmate login EMAIL` does it\n"
        self.assertEqual(self.run_program("sports", password=None, status=1), out)

    def test_offline_keeps_the_session(self):
        self.run_program("login", EMAIL)
        self.backend.tell("expire")
        self.backend.tell("refresh/unavailable")
        later = "shredmate: the server can't be reached; you are still logged in, so try again later\n"
        self.assertEqual(self.run_program("sports", password=None, status=1), later)
        self.backend.tell("refresh/normal")
        self.assertIn("Surfing", self.run_program("sports", password=None))

    def test_a_wrong_password(self):
        wrong = "shredmate: wrong e-mail address or password\n"
        self.assertEqual(self.run_program("login", EMAIL, password="wrong", status=1), wrong)
        self.assertIsNone(self.backend.seen()["requests"][0].get("bearer"))

    def test_the_store_has_no_token_in_it(self):
        self.run_program("login", EMAIL)
        self.run_program("sports", password=None)
        bearer = self.backend.seen()["requests"][-1]["bearer"]
        files = [file for file in self.folder.rglob("*") if file.is_file()]
        self.assertTrue(files)
        for file in files:
            self.assertNotIn(bearer.encode(), file.read_bytes(), file)
            self.assertNotIn(EMAIL.encode(), file.read_bytes(), file)


class TwoProcesses(ProgramTest):
    def test_two_processes_at_once_spend_the_refresh_token_once(self):
        """Both send the expired token before either gets its 401."""
        self.run_program("login", EMAIL)
        for _ in range(3):
            self.backend.tell("expire")
            self.backend.tell("forget")
            self.backend.tell("gather/2")
            programs = [self.start("sports") for _ in range(2)]
            for program in programs:
                output, _ = program.communicate(timeout=60)
                self.outputs.append(output)
                self.assertEqual(program.returncode, 0, output)
                self.assertIn("Surfing", output)
            seen = self.backend.seen()
            self.assertEqual((seen["refreshes"], seen["reuses"]), (1, 0))
            self.assertEqual([request["status"] for request in seen["requests"]].count(401), 2)


    def test_a_logout_in_one_process_is_one_in_the_other(self):
        self.run_program("login", EMAIL)
        other = self.start()
        other.stdin.write("ride surf beginner\n")
        other.stdin.flush()
        self.assertEqual(other.stdout.readline(), "Surfing: beginner\n")
        self.run_program("logout")
        output, _ = other.communicate("sports\n", timeout=60)
        self.outputs.append(output)
        self.assertEqual(output, "shredmate: nobody is logged in; `shredmate login EMAIL` does it\n")


class AtATerminal(ProgramTest):
    def test_the_password_is_asked_for_and_not_shown(self):
        with terminal([PROGRAM, "login", EMAIL], self.environment) as screen:
            screen.wait_for(f"password of {EMAIL}: ")
            screen.type(PASSWORD)
            screen.wait_for_end()
        self.outputs.append(screen.text)
        self.assertEqual(screen.status, 0, screen.text)
        self.assertEqual(screen.text.split("\r\n"), [f"password of {EMAIL}: ", "logged in as Ada", ""])

    def test_an_upload_shows_its_progress(self):
        picture = self.folder / "ada.jpg"
        picture.write_bytes(random.randbytes(4 << 20))
        self.run_program("login", EMAIL)
        with terminal([PROGRAM, "avatar", picture], self.environment) as screen:
            screen.wait_for_end()
        self.assertEqual(screen.status, 0, screen.text)
        bar, last, end = screen.text.split("\r\n")
        self.assertTrue(last.startswith(f"uploaded {4 << 20} bytes: /avatars/"), last)
        self.assertEqual(end, "")
        shown = [int(text.rpartition("] ")[2].removesuffix(" %")) for text in bar.split("\r") if text]
        self.assertEqual(shown, sorted(set(shown)))
        self.assertGreater(len(shown), 2, "several steps")
        self.assertEqual(shown[-1], 100)
        self.assertEqual(bar.split("\r")[-1], f"ada.jpg [{30 * '#'}] 100 %")


if __name__ == "__main__":
    unittest.main()
