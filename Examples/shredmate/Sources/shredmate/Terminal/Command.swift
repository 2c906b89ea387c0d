/// A command of the program, with its arguments.
enum Command {
    case login(email: String)
    case register(email: String, name: String)
    case profile
    case describe(RiderType, String)
    case avatar(path: String)
    case home(BaseLocation)
    case sports
    case ride(sport: Sport.ID, SportLevel)
    case drop(sport: Sport.ID)
    case logout
    case delete
    case help

    static let usage = """
        usage: shredmate [COMMAND]       without one, commands are read from standard input

          login EMAIL                    the password comes from SHREDMATE_PASSWORD, or is asked for
          register EMAIL NAME            the same
          profile                        show the profile
          describe rider|mentor TEXT     change it
          avatar FILE                    upload a picture
          home LATITUDE LONGITUDE NAME   set the base location
          sports                         list all sports
          ride SPORT LEVEL               add a sport to the profile: beginner, intermediate or expert
          drop SPORT                     remove it
          logout                         end the session
          delete                         delete the account

        SHREDMATE_URL is the address of the API, by default http://127.0.0.1:8080/api/v1. The session is kept between runs, sealed.
        """

    /// Whether somebody must be logged in.
    var needsSession: Bool {
        switch self {
        case .login, .register, .help: false
        default: true
        }
    }

    /// Returns nil if these words aren't a command.
    init?(_ words: [String]) {
        switch (words.first, words.dropFirst().map(\.self)) {
        case ("login", let rest) where rest.count == 1: self = .login(email: rest[0])
        case ("register", let rest) where rest.count >= 2:
            self = .register(email: rest[0], name: rest.dropFirst().joined(separator: " "))
        case ("profile", []): self = .profile
        case ("describe", let rest) where rest.count >= 2:
            guard let type = RiderType(rawValue: rest[0]) else { return nil }
            self = .describe(type, rest.dropFirst().joined(separator: " "))
        case ("avatar", let rest) where rest.count == 1: self = .avatar(path: rest[0])
        case ("home", let rest) where rest.count >= 3:
            guard let latitude = Double(rest[0]), let longitude = Double(rest[1]) else { return nil }
            self = .home(
                BaseLocation(latitude: latitude, longitude: longitude, name: rest.dropFirst(2).joined(separator: " ")))
        case ("sports", []): self = .sports
        case ("ride", let rest) where rest.count == 2:
            guard let level = SportLevel(rawValue: rest[1]) else { return nil }
            self = .ride(sport: rest[0], level)
        case ("drop", let rest) where rest.count == 1: self = .drop(sport: rest[0])
        case ("logout", []): self = .logout
        case ("delete", []): self = .delete
        case ("help", []), ("--help", []), ("-h", []): self = .help
        default: return nil
        }
    }
}
