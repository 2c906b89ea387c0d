# A small Rails application in one file, with Devise as its generators set it up: notes for logged-in users.
require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "devise"
require "devise/orm/active_record"

class Notes < Rails::Application
  config.root = __dir__
  config.load_defaults 6.1
  config.eager_load = false
  config.secret_key_base = ENV.fetch("NOTES_SECRET")
  config.logger = Logger.new($stdout)
  config.log_level = :info
  config.cache_store = :memory_store
  if ENV.fetch("NOTES_SESSIONS") == "cache"
    config.session_store :cache_store, key: "_notes_session"
  else
    config.session_store :cookie_store, key: "_notes_session"
  end
end

Devise.setup do |config|
  config.stretches = 4
  config.sign_out_via = :delete
end

class User < ActiveRecord::Base
  devise :database_authenticatable
end

class Note < ActiveRecord::Base
end

class ApplicationController < ActionController::Base
  protect_from_forgery with: :exception
end

class NotesController < ApplicationController
  before_action :authenticate_user!, except: :forget

  def index
    render inline: "<p>Hello <%= current_user.email %></p><p><%= Note.pluck(:text).join(' ') %></p>", layout: "application"
  end

  def create
    Note.create!(text: params.require(:text))
    head :created
  end

  def forget
    Rails.cache.clear
    head :no_content
  end
end

Notes.initialize!
ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define do
  unless table_exists?(:users)
    create_table(:users) do |table|
      table.string :email
      table.string :encrypted_password
    end
    create_table(:notes) { |table| table.string :text }
    User.create!(email: ENV.fetch("NOTES_USER"), password: ENV.fetch("NOTES_PASSWORD"))
  end
end
run Notes
